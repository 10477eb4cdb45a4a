internal import DeliveryRecording
internal import ThreadedNotifications

/// Computes the statistics of the selected records from what the index answers.
struct StatisticsCollector {
    /// One name, observer or thread, or all, with the times of its deliveries.
    private struct Group {
        var group: DeliveryStatistics.Group
        var postToDelivery: [UInt64] = []
        var waiting: [UInt64] = []
        var handler: [UInt64] = []

        init(_ label: String) { group = DeliveryStatistics.Group(label: label, posted: 0) }

        var isUsed: Bool { group.posts + group.counts[.matched] + group.counts[.delivered] > 0 }

        mutating func add(_ counts: Accounts.Counts) { group.counts += counts }
    }

    private let index: RecordingIndex
    private let selection: RecordingSelection
    /// For each post: true if it is selected with all of its records; nil if the selection has only some.
    private let wholePosts: [Bool]?
    private let start: UInt64
    private let end: UInt64
    private let observerLabels: [String]
    private var recording: Recording { index.recording }
    private var statistics: DeliveryStatistics
    private var total = Group("all")
    /// The first one is for blocks.
    private var names = [Group(DeliveryStatistics.blocks)]
    /// By name, which is the same in several processes: an index in `names`.
    private var nameIndices: [Int32: Int] = [-1: 0]
    private var observers: [Group]
    private var threads: [Group]
    private var mailboxes: [DeliveryStatistics.Mailbox]
    private var waits: [[UInt64]]
    private var batches: [[UInt64]]

    init(_ index: RecordingIndex, _ selection: RecordingSelection) {
        self.index = index
        self.selection = selection
        let recording = index.recording
        wholePosts =
            selection.hasWholePosts
            ? selection.posts(of: recording) ?? Array(repeating: true, count: recording.posts.count) : nil
        statistics = DeliveryStatistics(source: recording.source)
        let (first, last) = (recording.entries.first?.time ?? 0, recording.entries.last?.time ?? 0)
        start = first + min(last - first, UInt64(selection.times.lowerBound))
        let upper = selection.times.upperBound
        end = upper == .max ? last : max(start, first + min(last - first, UInt64(upper)))
        let identifiers = TraceIdentifiers(recording)
        func label(_ label: String, _ process: Int32) -> String {
            recording.processes.count > 1 ? "\(label) of \(identifiers.processes[Int(process)])" : label
        }
        observerLabels = recording.observers.map { label("\($0.number)", $0.process) }
        observers = observerLabels.map { Group($0) }
        let labels = zip(recording.threads, identifiers.names).map { label($1, $0.process) }
        threads = labels.map { Group($0) }
        mailboxes = labels.map { DeliveryStatistics.Mailbox(label: $0) }
        (waits, batches) = (labels.map { _ in [] }, labels.map { _ in [] })
        for history in index.histories where history.name >= 0 && nameIndices[history.name] == nil {
            nameIndices[history.name] = names.count
            names.append(Group(recording.strings[Int(history.name)]))
        }
    }

    mutating func collect() -> DeliveryStatistics {
        countPosts()
        countOutcomes()
        countHandlers()
        countMailboxes()
        countQueues()
        statistics.recordCount =
            selection.isEverything ? recording.entries.count : recording.entries.count(where: selection.contains)
        statistics.processCount = recording.processes.count
        statistics.threadCount = recording.threads.count
        statistics.nanoseconds = end - start
        statistics.drains = mailboxes.reduce(0) { $0 + $1.drains }
        statistics.deliveriesPerDrain = Distribution(of: batches.joined())
        statistics.waits = Distribution(of: waits.joined())
        statistics.total = measured(total)
        statistics.names = busiestFirst(names).map(measured)
        statistics.observers = busiestFirst(observers).map(measured)
        let order = recording.ordered(recording.threads.indices)
        let used = order.filter { threads[$0].isUsed }
        // Threads without notifications are shown if there are no others.
        let recorded = Set(recording.entries.lazy.filter(selection.contains).map { Int($0.thread) })
        statistics.threads = (used.isEmpty ? order.filter(recorded.contains) : used).map { measured(threads[$0]) }
        statistics.mailboxes = order.compactMap { thread in
            var mailbox = mailboxes[thread]
            mailbox.deliveriesPerDrain = Distribution(of: batches[thread])
            mailbox.waits = Distribution(of: waits[thread])
            let events = mailbox.appended + mailbox.signals + mailbox.drains + mailbox.endlessWaits
            return events + waits[thread].count > 0 ? mailbox : nil
        }
        return statistics
    }

    /// The groups that are used, in descending order of posts and deliveries.
    private func busiestFirst(_ groups: [Group]) -> [Group] {
        let weights = groups.map { $0.group.posts + $0.group.counts[.delivered] }
        return groups.indices.filter { groups[$0].isUsed }.sorted { (-weights[$0], $0) < (-weights[$1], $1) }
            .map { groups[$0] }
    }

    private func measured(_ group: Group) -> DeliveryStatistics.Group {
        var measured = group.group
        if end > start, measured.posts > 0 {
            measured.postsPerSecond = Double(measured.posts) / (Double(end - start) / 1e9)
        }
        measured.postToDelivery = Distribution(of: group.postToDelivery)
        measured.waiting = Distribution(of: group.waiting)
        measured.handler = Distribution(of: group.handler)
        return measured
    }

    private func contains(_ number: Int32) -> Bool { selection.contains(index.entry(number)) }

    /// True for a record of a post that is selected with all of its records, or for a selected record.
    private func includes(_ number: Int32) -> Bool {
        guard let wholePosts, case let post = index.entry(number).post, post >= 0 else { return contains(number) }
        return wholePosts[Int(post)]
    }

    // MARK: Counting

    private mutating func countPosts() {
        for post in index.posts where post.posted >= 0 && index.isPost(post.posted) && contains(post.posted) {
            let entry = index.entry(post.posted)
            total.group.posted? += 1
            names[nameIndices[entry.name] ?? 0].group.posted? += 1
            threads[Int(entry.thread)].group.posted? += 1
        }
    }

    /// The counts of the accounts, by name and by observer; and by thread, those of the mailbox.
    private mutating func countOutcomes() {
        for account in Accounts(index, includes: includes).all where account.table != .queues {
            let name = account.table == .blocks ? 0 : nameIndices[account.name] ?? 0
            if account.table == .unobserved {
                total.group.unobserved += account.counts[.matched]
                names[name].group.unobserved += account.counts[.matched]
                continue
            }
            total.add(account.counts)
            names[name].add(account.counts)
            guard account.observer >= 0 else { continue }
            observers[Int(account.observer)].add(account.counts)
            describe(account)
        }
        for delivery in index.deliveries {
            let number = delivery.outcome >= 0 ? delivery.outcome : delivery.append
            guard number >= 0, delivery.skip < 0 || delivery.outcome >= 0, includes(number) else { continue }
            let (entry, mailbox) = (index.entry(number), index.mailbox(of: delivery))
            let isDelivered = delivery.outcome >= 0 && entry.stage == .deliver
            let thread = isDelivered ? entry.thread : mailbox >= 0 ? mailbox : max(entry.target, -1)
            let count = delivery.outcome < 0 ? .pending : Accounts.Count(entry.stage) ?? .pending
            threads[Int(thread >= 0 ? thread : entry.thread)].group.counts[count] += 1
            threads[Int(thread >= 0 ? thread : entry.thread)].group.counts[.matched] += 1
        }
    }

    private mutating func describe(_ account: Accounts.Account) {
        let number = Int(account.observer)
        let registration = index.registration(of: account.observer)
        let name = account.name >= 0 ? account.name : registration?.name ?? -1
        let target = registration?.target ?? -1
        let threads = target >= 0 ? [target] : account.threads.sorted()
        observers[number].group.posted = nil
        observers[number].group.name = name < 0 ? nil : recording.strings[Int(name)]
        observers[number].group.label = observerLabels[number] + (name < 0 ? "" : " \(recording.strings[Int(name)])")
        observers[number].group.location = registration.flatMap(recording.location(of:))?.description
        observers[number].group.policies = (observers[number].group.policies + account.policies).sorted()
        for thread in threads.map(recording.describeThread)
        where !observers[number].group.threads.contains(thread) {
            observers[number].group.threads.append(thread)
        }
    }

    private mutating func countHandlers() {
        for span in index.spans where !span.isWait && contains(span.begin) {
            let entry = index.entry(span.begin)
            let (posted, begun) = (index.posted(span.begin), index.waitBegin(span.begin))
            let sincePost = posted < 0 ? nil : index.time(from: posted, to: span.begin)
            let waited = begun < 0 ? nil : index.time(from: begun, to: span.begin)
            let duration = index.duration(of: span)
            func add(to group: inout Group) {
                if span.ending.runsOn { group.group.neverReturned += 1 }
                if let sincePost { group.postToDelivery.append(sincePost) }
                if let waited { group.waiting.append(waited) }
                if let duration { group.handler.append(duration) }
            }
            add(to: &total)
            add(to: &names[nameIndices[entry.name] ?? 0])
            if entry.observer >= 0 { add(to: &observers[Int(entry.observer)]) }
            add(to: &threads[Int(span.thread)])
        }
    }

    private mutating func countMailboxes() {
        for number in index.records(of: .signal) where contains(number) {
            statistics.signals += 1
            let target = index.entry(number).target
            if target >= 0 { mailboxes[Int(target)].signals += 1 }
        }
        statistics.lostSignals = index.records(of: .dropSignal).count(where: contains)
        statistics.refusedWaits = index.records(of: .refuseWait).count(where: contains)
        for number in index.records(of: .wait) where contains(number) {
            let thread = Int(index.entry(number).thread)
            if let time = index.duration(of: index.spans[Int(index.spanOfEntry[Int(number)])]) {
                waits[thread].append(time)
            } else {
                mailboxes[thread].endlessWaits += 1
            }
        }
        var drains = mailboxes.map { _ in [Int32]() }
        for number in index.records(of: .drain) where contains(number) {
            drains[Int(index.entry(number).thread)].append(number)
        }
        for thread in drains.indices {
            mailboxes[thread].drains = drains[thread].count
            batches[thread] = drains[thread].map { _ in 0 }
        }
        for span in index.spans where !span.isWait && contains(span.begin) && index.waitBegin(span.begin) >= 0 {
            let drain = drains[Int(span.thread)].firstIndex(after: span.begin) - 1
            if drain >= 0 { batches[Int(span.thread)][drain] += 1 }
        }
        for (thread, depth) in index.depths(until: end, includes: contains).enumerated() where depth.appended > 0 {
            mailboxes[thread].appended = depth.appended
            mailboxes[thread].highestDepth = depth.highest
            if end > start { mailboxes[thread].meanDepth = depth.waited / Double(end - start) }
        }
    }

    private mutating func countQueues() {
        var times: [UInt64] = []
        statistics.queues.enqueued = index.records(of: .enqueue).count(where: contains)
        for post in index.posts where post.enqueued >= 0 && post.queueOutcome >= 0 && contains(post.queueOutcome) {
            switch index.entry(post.queueOutcome).stage {
            case .post:
                statistics.queues.posted += 1
                times.append(index.time(from: post.enqueued, to: post.queueOutcome))
            case .coalesce: statistics.queues.coalesced += 1
            case .dequeue: statistics.queues.dequeued += 1
            default: statistics.queues.targetGone += 1
            }
        }
        statistics.queues.waiting = Distribution(of: times)
    }
}
