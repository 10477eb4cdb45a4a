internal import DeliveryRecording
internal import ThreadedNotifications

/// Computes the statistics of the selected records in one pass.
struct StatisticsCollector {
    /// One name, observer or thread, or all, with the `deliver` entries that its times are measured of.
    private struct Group {
        var counts: DeliveryStatistics.Group
        var deliveries: [Int32] = []

        init(_ label: String) { counts = DeliveryStatistics.Group(label: label) }

        var hasRecords: Bool {
            let outcomes = counts.coalesced + counts.dropped + counts.cancelled + counts.targetGone
            return counts.posted + counts.delivered + outcomes + counts.pending > 0
        }
    }

    private struct Mailbox {
        var counts: DeliveryStatistics.Mailbox
        var depth = 0
        /// The time of the last change of the depth, and the sum of depth times nanoseconds.
        var since: UInt64
        var area = 0.0
        /// The number of deliveries in each drain. The last is the current drain.
        var batches: [UInt64] = []
        /// The durations of the waits of its thread.
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
    /// The times from `enqueue` to `post`.
    private var queued: [UInt64] = []

    init(_ index: RecordingIndex, _ selection: RecordingSelection, _ statistics: DeliveryStatistics) {
        self.index = index
        self.selection = selection
        self.statistics = statistics
        let recording = index.recording
        self.recording = recording
        let (first, last) = (recording.entries.first?.time ?? 0, recording.entries.last?.time ?? 0)
        let start = min(last, first + UInt64(selection.times.lowerBound))
        self.start = start
        end =
            selection.times.upperBound == .max
            ? last : max(start, min(last, first + UInt64(selection.times.upperBound)))
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
            group.counts.location = index.registration(of: Int32(number)).flatMap(recording.place(of:))?.description
            return group
        }
        let labels = zip(recording.threads, identifiers.names).map { label($1, $0.process) }
        threads = labels.map { Group($0) }
        mailboxes = labels.map { Mailbox(counts: DeliveryStatistics.Mailbox(label: $0), since: start) }
    }

    mutating func collect() -> DeliveryStatistics {
        for (number, entry) in recording.entries.enumerated() where selection.contains(entry) {
            statistics.recordCount += 1
            count(entry, Int32(number))
            countWaiting(entry, Int32(number))
        }
        for mailbox in mailboxes.indices where mailboxes[mailbox].counts.highestDepth != nil && end > start {
            change(mailbox, by: 0, at: end)
            mailboxes[mailbox].counts.meanDepth = mailboxes[mailbox].area / Double(end - start)
        }
        statistics.processCount = recording.processes.count
        statistics.threadCount = recording.threads.count
        statistics.nanoseconds = end - start
        statistics.drains = mailboxes.reduce(0) { $0 + $1.counts.drains }
        statistics.deliveriesPerDrain = Distribution(of: mailboxes.flatMap(\.batches))
        statistics.waits = Distribution(of: mailboxes.flatMap(\.waits))
        statistics.queues.waiting = Distribution(of: queued)
        let order = recording.threads.indices.sorted { one, other in
            let (one, other) = (recording.threads[one], recording.threads[other])
            return (one.process, one.identity.number) < (other.process, other.identity.number)
        }
        statistics.total = measured(total)
        statistics.names = Self.busiest(names).map(measured)
        statistics.observers = Self.busiest(observers).map(measured)
        statistics.threads = order.map { threads[$0] }.filter(\.hasRecords).map(measured)
        statistics.mailboxes = order.map { mailboxes[$0] }.map { mailbox in
            var counts = mailbox.counts
            counts.deliveriesPerDrain = Distribution(of: mailbox.batches)
            counts.waits = Distribution(of: mailbox.waits)
            return counts
        }.filter { $0.appended + $0.signals + $0.drains + $0.endlessWaits > 0 || $0.waits != nil }
        return statistics
    }

    /// The groups that have any records, in descending order of posts and deliveries.
    private static func busiest(_ groups: [Group]) -> [Group] {
        func weight(_ index: Int) -> Int { groups[index].counts.posted + groups[index].counts.delivered }
        return groups.indices.filter { groups[$0].hasRecords }.sorted { (-weight($0), $0) < (-weight($1), $1) }
            .map { groups[$0] }
    }

    private func measured(_ group: Group) -> DeliveryStatistics.Group {
        func times(since begin: (Int32) -> Int32) -> Distribution? {
            Distribution(
                of: group.deliveries.compactMap { delivery in
                    let begin = begin(delivery)
                    return begin < 0 ? nil : index.time(from: begin, to: delivery)
                })
        }
        var measured = group.counts
        if end > start, measured.posted > 0 {
            measured.postsPerSecond = Double(measured.posted) / (Double(end - start) / 1e9)
        }
        measured.postToDelivery = times(since: index.posted)
        measured.waiting = times(since: index.waitBegin)
        measured.handler = Distribution(of: group.deliveries.compactMap { duration(of: $0) })
        return measured
    }

    /// The duration of the handler or wait that a record begins.
    private func duration(of number: Int32) -> UInt64? {
        index.duration(of: index.spans[Int(index.spanOfEntry[Int(number)])])
    }

    // MARK: Counting

    private mutating func count(_ entry: Recording.Entry, _ number: Int32) {
        let thread = Int(entry.thread)
        let begun = index.waitBegin(number)
        let isOfQueue = begun >= 0 && index.entry(begun).stage == .enqueue
        switch entry.stage {
        case .post, .capture:
            if isOfQueue {
                statistics.queues.posted += 1
                queued.append(index.time(from: begun, to: number))
            }
            // A capture counts as a post unless the post that it belongs to has a record.
            guard entry.stage == .post || index.posted(number) < 0 && entry.relatedPost < 0 else { break }
            total.counts.posted += 1
            names[name(entry)].counts.posted += 1
            threads[thread].counts.posted += 1
        case .enqueue:
            statistics.queues.enqueued += 1
        case .dequeue:
            statistics.queues.dequeued += 1
        case .append:
            if entry.observer >= 0 { observers[Int(entry.observer)].counts.posted += 1 }
        case .deliver:
            if begun < 0, entry.observer >= 0 { observers[Int(entry.observer)].counts.posted += 1 }
            if begun >= 0, let drain = mailboxes[thread].batches.indices.last { mailboxes[thread].batches[drain] += 1 }
            let isEndless = index.recordsEnd(number) && index.partner(of: number) < 0 ? 1 : 0
            add(entry, thread) {
                $0.deliveries.append(number)
                $0.counts.delivered += 1
                $0.counts.neverReturned += isEndless
            }
        case .coalesce, .drop, .cancel, .targetGone:
            if isOfQueue {
                if entry.stage == .coalesce { statistics.queues.coalesced += 1 }
                if entry.stage == .targetGone { statistics.queues.targetGone += 1 }
                break
            }
            let mailbox = begun >= 0 ? index.mailbox(begun) : entry.target
            add(entry, Int(mailbox < 0 ? entry.thread : mailbox)) { group in
                switch entry.stage {
                case .coalesce: group.counts.coalesced += 1
                case .drop: group.counts.dropped += 1
                case .cancel: group.counts.cancelled += 1
                default: group.counts.targetGone += 1
                }
            }
        case .dropSignal:
            statistics.lostSignals += 1
        case .refuseWait:
            statistics.refusedWaits += 1
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
        case .register, .remove, .return, .skip, .waitEnd, .threadEnd, .count, .log, .processStart,
            .processEnd, .fork, .lost, .end:
            break
        }
    }

    private func name(_ entry: Recording.Entry) -> Int { entry.name < 0 ? 0 : Int(nameIndices[Int(entry.name)]) }

    private mutating func add(_ entry: Recording.Entry, _ thread: Int, _ change: (inout Group) -> Void) {
        change(&total)
        change(&names[name(entry)])
        if entry.observer >= 0 { change(&observers[Int(entry.observer)]) }
        change(&threads[thread])
    }

    // MARK: Depth

    private mutating func countWaiting(_ entry: Recording.Entry, _ number: Int32) {
        let mailbox = Int(index.mailbox(number))
        if mailbox >= 0 {
            mailboxes[mailbox].counts.appended += 1
            change(mailbox, by: 1, at: entry.time)
            if index.waitEnd(number) < 0 { add(entry, mailbox) { $0.counts.pending += 1 } }
            return
        }
        let begun = index.waitBegin(number)
        guard begun >= 0, selection.contains(index.entry(begun)), index.mailbox(begun) >= 0 else { return }
        change(Int(index.mailbox(begun)), by: -1, at: entry.time)
    }

    private mutating func change(_ mailbox: Int, by difference: Int, at time: UInt64) {
        mailboxes[mailbox].area += Double(mailboxes[mailbox].depth) * Double(time - mailboxes[mailbox].since)
        mailboxes[mailbox].since = time
        mailboxes[mailbox].depth += difference
        mailboxes[mailbox].counts.highestDepth = max(
            mailboxes[mailbox].counts.highestDepth ?? 0, mailboxes[mailbox].depth)
    }
}
