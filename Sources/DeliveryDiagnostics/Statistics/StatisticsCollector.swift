internal import DeliveryRecording
internal import ThreadedNotifications

/// Computes the statistics of the selected records in one pass.
struct StatisticsCollector {
    /// One name, observer or thread, or all, with the times of its deliveries.
    private struct Group {
        var counts: DeliveryStatistics.Group
        var postToDelivery: [UInt64] = []
        var waiting: [UInt64] = []
        var handler: [UInt64] = []

        init(_ label: String) { counts = DeliveryStatistics.Group(label: label, posted: 0) }

        var isUsed: Bool {
            let outcomes = counts.coalesced + counts.dropped + counts.cancelled + counts.targetGone + counts.lost
            return counts.posts + counts.delivered + outcomes + counts.pending > 0
        }
    }

    private struct Mailbox {
        var counts: DeliveryStatistics.Mailbox
        var depth = 0
        /// The time that notifications waited in it, in nanoseconds.
        var waited = 0.0
        /// The number of deliveries in each drain. The last is the current drain.
        var batches: [UInt64] = []
        var waits: [UInt64] = []
    }

    private let recording: Recording
    private let index: RecordingIndex
    private let selection: RecordingSelection
    private let start: UInt64
    private let end: UInt64
    private var statistics: DeliveryStatistics
    private var total = Group("all")
    /// The first one is for blocks.
    private var names = [Group(DeliveryStatistics.blocks)]
    /// For each string: its index in `names`. Most strings may be messages.
    private var nameIndices: [Int32]
    private var observers: [Group]
    private var threads: [Group]
    private var mailboxes: [Mailbox]
    private var queued: [UInt64] = []

    init(_ index: RecordingIndex, _ selection: RecordingSelection) {
        self.index = index
        self.selection = selection
        let recording = index.recording
        self.recording = recording
        statistics = DeliveryStatistics(source: recording.source)
        let (first, last) = (recording.entries.first?.time ?? 0, recording.entries.last?.time ?? 0)
        let start = first + min(last - first, UInt64(selection.times.lowerBound))
        self.start = start
        end =
            selection.times.upperBound == .max
            ? last : max(start, first + min(last - first, UInt64(selection.times.upperBound)))
        let identifiers = TraceIdentifiers(recording)
        func label(_ label: String, _ process: Int32) -> String {
            recording.processes.count > 1 ? "\(label) of \(identifiers.processes[Int(process)])" : label
        }
        nameIndices = Array(repeating: -1, count: recording.strings.count)
        var namesOfObservers = [Int32](repeating: -1, count: recording.observers.count)
        for entry in recording.entries where entry.name >= 0 {
            if entry.observer >= 0 { namesOfObservers[Int(entry.observer)] = entry.name }
            guard nameIndices[Int(entry.name)] < 0 else { continue }
            nameIndices[Int(entry.name)] = Int32(names.count)
            names.append(Group(recording.strings[Int(entry.name)]))
        }
        observers = recording.observers.indices.map { number in
            let (observer, name) = (recording.observers[number], namesOfObservers[number])
            let ofName = name < 0 ? "" : " \(recording.strings[Int(name)])"
            var group = Group(label("\(observer.number)", observer.process) + ofName)
            (group.counts.posted, group.counts.matched) = (nil, 0)
            group.counts.location = index.registration(of: Int32(number)).flatMap(recording.location(of:))?.description
            return group
        }
        let labels = zip(recording.threads, identifiers.names).map { label($1, $0.process) }
        threads = labels.map { Group($0) }
        mailboxes = labels.map { Mailbox(counts: DeliveryStatistics.Mailbox(label: $0)) }
    }

    mutating func collect() -> DeliveryStatistics {
        var number: Int32 = -1
        for entry in recording.entries {
            number += 1
            guard selection.contains(entry) else { continue }
            statistics.recordCount += 1
            count(entry, number)
        }
        countOutcomes()
        for mailbox in mailboxes.indices where mailboxes[mailbox].counts.highestDepth != nil && end > start {
            mailboxes[mailbox].counts.meanDepth = mailboxes[mailbox].waited / Double(end - start)
        }
        statistics.processCount = recording.processes.count
        statistics.threadCount = recording.threads.count
        statistics.nanoseconds = end - start
        statistics.drains = mailboxes.reduce(0) { $0 + $1.counts.drains }
        statistics.deliveriesPerDrain = Distribution(of: mailboxes.flatMap(\.batches))
        statistics.waits = Distribution(of: mailboxes.flatMap(\.waits))
        statistics.queues.waiting = Distribution(of: queued)
        let order = recording.ordered(recording.threads.indices)
        statistics.total = measured(total)
        statistics.names = busiestFirst(names).map { measured($0) }
        statistics.observers = busiestFirst(observers).map { measured($0) }
        statistics.threads = order.map { threads[$0] }.filter(\.isUsed).map { measured($0) }
        statistics.mailboxes = order.map { mailboxes[$0] }.compactMap { mailbox in
            var counts = mailbox.counts
            counts.deliveriesPerDrain = Distribution(of: mailbox.batches)
            counts.waits = Distribution(of: mailbox.waits)
            let events = counts.appended + counts.signals + counts.drains + counts.endlessWaits + mailbox.waits.count
            return events > 0 ? counts : nil
        }
        return statistics
    }

    /// The groups that are used, in descending order of posts and deliveries.
    private func busiestFirst(_ groups: [Group]) -> [Group] {
        let weights = groups.map { $0.counts.posts + $0.counts.delivered }
        return groups.indices.filter { groups[$0].isUsed }.sorted { (-weights[$0], $0) < (-weights[$1], $1) }
            .map { groups[$0] }
    }

    private func measured(_ group: Group) -> DeliveryStatistics.Group {
        var measured = group.counts
        if end > start, measured.posts > 0 {
            measured.postsPerSecond = Double(measured.posts) / (Double(end - start) / 1e9)
        }
        measured.postToDelivery = Distribution(of: group.postToDelivery)
        measured.waiting = Distribution(of: group.waiting)
        measured.handler = Distribution(of: group.handler)
        return measured
    }

    // MARK: Counting

    /// Takes the outcomes by name and by observer from the audit, so that there is one account of them. A part of the
    /// records of a post has no such account.
    private mutating func countOutcomes() {
        guard selection.hasWholePosts else { return }
        for line in Audit(index, selection: selection).lines where line.table == .notifications || line.table == .blocks
        {
            total.counts.add(line.counts)
            names[line.name < 0 ? 0 : Int(nameIndices[Int(line.name)])].counts.add(line.counts)
            guard line.observer >= 0 else { continue }
            observers[Int(line.observer)].counts.add(line.counts)
            observers[Int(line.observer)].counts.matched? += line.counts[.matched]
        }
    }

    private mutating func count(_ entry: Recording.Entry, _ number: Int32) {
        let thread = Int(entry.thread)
        switch entry.stage {
        case .enqueue: statistics.queues.enqueued += 1
        case .post, .capture: countPost(entry, number)
        case .append: beginWaiting(entry, number)
        case .deliver, .dequeue, .coalesce, .drop, .cancel, .targetGone, .skip: countOutcome(entry, number)
        case .dropSignal: statistics.lostSignals += 1
        case .refuseWait: statistics.refusedWaits += 1
        case .signal:
            statistics.signals += 1
            if entry.target >= 0 { mailboxes[Int(entry.target)].counts.signals += 1 }
        case .drain:
            mailboxes[thread].counts.drains += 1
            mailboxes[thread].batches.append(0)
        case .wait:
            if let duration = duration(of: number) {
                mailboxes[thread].waits.append(duration)
            } else {
                mailboxes[thread].counts.endlessWaits += 1
            }
        default: break
        }
    }

    private mutating func countPost(_ entry: Recording.Entry, _ number: Int32) {
        let begun = index.waitBegin(number)
        if begun >= 0 {
            statistics.queues.posted += 1
            queued.append(index.time(from: begun, to: number))
        }
        if entry.stage == .capture { beginWaiting(entry, number) }
        // A capture counts as a post unless the post that it belongs to has a record.
        guard entry.stage == .post || index.posted(number) < 0 && entry.relatedPost < 0,
            !recording.isThreadEnd(entry)
        else { return }
        total.counts.posted? += 1
        names[name(entry)].counts.posted? += 1
        threads[Int(entry.thread)].counts.posted? += 1
    }

    private mutating func countOutcome(_ entry: Recording.Entry, _ number: Int32) {
        let begun = index.waitBegin(number)
        if entry.stage == .dequeue || begun >= 0 && index.entry(begun).stage == .enqueue {
            // It never left its posting queue.
            if entry.stage == .dequeue { statistics.queues.dequeued += 1 }
            if entry.stage == .coalesce { statistics.queues.coalesced += 1 }
            if entry.stage == .targetGone { statistics.queues.targetGone += 1 }
            return
        }
        let mailbox = begun >= 0 ? index.mailbox(begun) : -1
        if mailbox >= 0, selection.contains(index.entry(begun)) { changeDepth(Int(mailbox), by: -1, at: entry.time) }
        if entry.stage == .deliver { return countDelivery(entry, number, since: begun) }
        let target = begun >= 0 ? mailbox : entry.target
        let group = Int(target < 0 ? entry.thread : target)
        switch entry.stage {
        case .coalesce: add(entry, outcomeOn: group) { $0.coalesced += 1 }
        case .drop: add(entry, outcomeOn: group) { $0.dropped += 1 }
        case .cancel: add(entry, outcomeOn: group) { $0.cancelled += 1 }
        case .targetGone: add(entry, outcomeOn: group) { $0.targetGone += 1 }
        default: break
        }
    }

    private mutating func countDelivery(_ entry: Recording.Entry, _ number: Int32, since begun: Int32) {
        let thread = Int(entry.thread)
        if begun >= 0, let drain = mailboxes[thread].batches.indices.last { mailboxes[thread].batches[drain] += 1 }
        let posted = index.posted(number)
        let sincePost = posted < 0 ? nil : index.time(from: posted, to: number)
        let waited = begun < 0 ? nil : index.time(from: begun, to: number)
        let duration = duration(of: number)
        let isEndless = index.spans[Int(index.spanOfEntry[Int(number)])].ending.runsOn
        add(entry, outcomeOn: thread) { $0.delivered += 1 }
        add(entry, thread) { group in
            if isEndless { group.counts.neverReturned += 1 }
            if let sincePost { group.postToDelivery.append(sincePost) }
            if let waited { group.waiting.append(waited) }
            if let duration { group.handler.append(duration) }
        }
    }

    private func name(_ entry: Recording.Entry) -> Int { entry.name < 0 ? 0 : Int(nameIndices[Int(entry.name)]) }

    private func duration(of number: Int32) -> UInt64? {
        index.duration(of: index.spans[Int(index.spanOfEntry[Int(number)])])
    }

    private mutating func add(_ entry: Recording.Entry, _ thread: Int, _ change: (inout Group) -> Void) {
        change(&total)
        change(&names[name(entry)])
        if entry.observer >= 0 { change(&observers[Int(entry.observer)]) }
        change(&threads[thread])
    }

    private mutating func add(
        _ entry: Recording.Entry, outcomeOn thread: Int, _ change: (inout DeliveryStatistics.Group) -> Void
    ) {
        // The audit counts the other groups.
        if selection.hasWholePosts { return change(&threads[thread].counts) }
        add(entry, thread) { group in
            change(&group.counts)
            group.counts.matched? += 1
        }
    }

    private mutating func beginWaiting(_ entry: Recording.Entry, _ number: Int32) {
        let mailbox = Int(index.mailbox(number))
        guard mailbox >= 0 else { return }
        mailboxes[mailbox].counts.appended += 1
        changeDepth(mailbox, by: 1, at: entry.time)
        if index.waitEnd(number) < 0 { add(entry, outcomeOn: mailbox) { $0.pending += 1 } }
    }

    private mutating func changeDepth(_ mailbox: Int, by difference: Int, at time: UInt64) {
        mailboxes[mailbox].waited += Double(difference) * (Double(end) - Double(time))
        mailboxes[mailbox].depth += difference
        mailboxes[mailbox].counts.highestDepth = max(
            mailboxes[mailbox].counts.highestDepth ?? 0, mailboxes[mailbox].depth)
    }
}

extension DeliveryStatistics.Group {
    fileprivate mutating func add(_ counts: AuditCounters) {
        delivered += counts[.delivered]
        coalesced += counts[.coalesced]
        dropped += counts[.dropped]
        cancelled += counts[.cancelled]
        targetGone += counts[.targetGone]
        pending += counts[.pending]
        lost += counts[.lost]
    }
}
