internal import DeliveryRecording
internal import ThreadedNotifications

/// Computes the statistics of the selected records from what the index answers.
struct StatisticsCollector {
    private let index: RecordingIndex
    private let selection: RecordingSelection
    /// For each post: true if it is selected with all of its records; nil if the selection has only some.
    private let wholePosts: [Bool]?
    private let end: UInt64
    private var recording: Recording { index.recording }
    /// Its groups are those of all observers and threads, and its first name is that of blocks.
    private var statistics: DeliveryStatistics
    /// By name, which is the same in several processes: an index in the names.
    private var nameIndices: [Int32: Int] = [-1: 0]
    /// For each thread.
    private var waits: [[UInt64]]
    private var batches: [[UInt64]]

    init(_ index: RecordingIndex, _ selection: RecordingSelection) {
        self.index = index
        self.selection = selection
        let recording = index.recording
        wholePosts =
            selection.hasWholePosts
            ? selection.posts(of: recording) ?? Array(repeating: true, count: recording.posts.count) : nil
        let (first, last) = (recording.entries.first?.time ?? 0, recording.entries.last?.time ?? 0)
        let start = first + min(last - first, UInt64(selection.times.lowerBound))
        let upper = selection.times.upperBound
        end = upper == .max ? last : max(start, first + min(last - first, UInt64(upper)))
        statistics = DeliveryStatistics(source: recording.source, nanoseconds: end - start)
        let identifiers = TraceIdentifiers(recording)
        func label(_ label: String, _ process: Int32) -> String {
            recording.processes.count > 1 ? "\(label) of \(identifiers.processes[Int(process)])" : label
        }
        let labels = zip(recording.threads, identifiers.names).map { label($1, $0.process) }
        (waits, batches) = (labels.map { _ in [] }, labels.map { _ in [] })
        let seconds = statistics.total.seconds
        statistics.names = [DeliveryStatistics.Group(DeliveryStatistics.blocks, seconds: seconds)]
        statistics.observers = recording.observers.map { .init(label("\($0.number)", $0.process), seconds: seconds) }
        statistics.threads = labels.map { .init($0, seconds: seconds) }
        statistics.mailboxes = labels.map { .init(label: $0) }
        for history in index.histories where history.name >= 0 && nameIndices[history.name] == nil {
            nameIndices[history.name] = statistics.names.count
            statistics.names.append(.init(recording.strings[Int(history.name)], seconds: seconds))
        }
        countPosts()
        countOutcomes()
        countHandlers()
        countMailboxes()
        countQueues()
    }

    func collected() -> DeliveryStatistics {
        var statistics = statistics
        statistics.recordCount =
            selection.isEverything ? recording.entries.count : recording.entries.count(where: selection.contains)
        statistics.processCount = recording.processes.count
        statistics.threadCount = recording.threads.count
        statistics.drains = statistics.mailboxes.reduce(0) { $0 + $1.drains }
        statistics.deliveriesPerDrain = Distribution(of: batches.joined())
        statistics.waits = Distribution(of: waits.joined())
        statistics.names = busiestFirst(statistics.names)
        statistics.observers = busiestFirst(statistics.observers)
        let order = recording.ordered(recording.threads.indices)
        let used = order.filter { statistics.threads[$0].isUsed }
        // Threads without notifications are shown if there are no others.
        let recorded = Set(recording.entries.lazy.filter(selection.contains).map { Int($0.thread) })
        statistics.threads = (used.isEmpty ? order.filter(recorded.contains) : used).map { statistics.threads[$0] }
        statistics.mailboxes = order.compactMap { thread in
            var mailbox = statistics.mailboxes[thread]
            mailbox.deliveriesPerDrain = Distribution(of: batches[thread])
            mailbox.waits = Distribution(of: waits[thread])
            let events = mailbox.appended + mailbox.signals + mailbox.drains + mailbox.endlessWaits
            return events + waits[thread].count > 0 ? mailbox : nil
        }
        return statistics
    }

    /// The groups that are used, in descending order of posts and deliveries.
    private func busiestFirst(_ groups: [DeliveryStatistics.Group]) -> [DeliveryStatistics.Group] {
        groups.enumerated().filter(\.element.isUsed)
            .sorted { (-$0.element.weight, $0.offset) < (-$1.element.weight, $1.offset) }.map(\.element)
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
            statistics.total.posted? += 1
            statistics.names[nameIndices[entry.name] ?? 0].posted? += 1
            statistics.threads[Int(entry.thread)].posted? += 1
        }
    }

    /// The counts of the accounts, by name and by observer; and by thread, those of the mailbox.
    private mutating func countOutcomes() {
        for account in Accounts(index, includes: includes).all where account.table != .queues {
            let name = account.table == .blocks ? 0 : nameIndices[account.name] ?? 0
            if account.table == .unobserved {
                statistics.total.unobserved += account.counts[.matched]
                statistics.names[name].unobserved += account.counts[.matched]
                continue
            }
            statistics.total.counts += account.counts
            statistics.names[name].counts += account.counts
            guard account.observer >= 0 else { continue }
            describe(account, &statistics.observers[Int(account.observer)])
        }
        for delivery in index.deliveries {
            let number = delivery.outcome >= 0 ? delivery.outcome : delivery.append
            guard number >= 0, delivery.skip < 0 || delivery.outcome >= 0, includes(number) else { continue }
            let (entry, mailbox) = (index.entry(number), index.mailbox(of: delivery))
            let isDelivered = delivery.outcome >= 0 && entry.stage == .deliver
            let thread = isDelivered ? entry.thread : mailbox >= 0 ? mailbox : max(entry.target, -1)
            let count = delivery.outcome < 0 ? .pending : Accounts.Count(entry.stage) ?? .pending
            statistics.threads[Int(thread >= 0 ? thread : entry.thread)].counts[count] += 1
            statistics.threads[Int(thread >= 0 ? thread : entry.thread)].counts[.matched] += 1
        }
    }

    private func describe(_ account: Accounts.Account, _ group: inout DeliveryStatistics.Group) {
        let registration = index.registration(of: account.observer)
        let name = account.name >= 0 ? account.name : registration?.name ?? -1
        let target = registration?.target ?? -1
        group.counts += account.counts
        group.posted = nil
        if name >= 0 {
            // Its other accounts are those of other names.
            let number = group.label.dropLast(group.name.map { $0.count + 1 } ?? 0)
            group.name = recording.strings[Int(name)]
            group.label = "\(number) \(recording.strings[Int(name)])"
        }
        group.location = registration.flatMap(recording.location(of:))?.description
        group.policies = (group.policies + account.policies).sorted()
        for thread in (target >= 0 ? [target] : account.threads.sorted()).map(recording.describeThread)
        where !group.threads.contains(thread) {
            group.threads.append(thread)
        }
    }

    private mutating func countHandlers() {
        for span in index.spans where !span.isWait && contains(span.begin) {
            let entry = index.entry(span.begin)
            let (posted, begun) = (index.posted(span.begin), index.waitBegin(span.begin))
            let sincePost = posted < 0 ? nil : index.time(from: posted, to: span.begin)
            let waited = begun < 0 ? nil : index.time(from: begun, to: span.begin)
            let duration = index.duration(of: span)
            func add(to group: inout DeliveryStatistics.Group) {
                if span.ending.runsOn { group.neverReturned += 1 }
                if let sincePost { group.latencies.append(sincePost) }
                if let waited { group.waits.append(waited) }
                if let duration { group.durations.append(duration) }
            }
            add(to: &statistics.total)
            add(to: &statistics.names[nameIndices[entry.name] ?? 0])
            if entry.observer >= 0 { add(to: &statistics.observers[Int(entry.observer)]) }
            add(to: &statistics.threads[Int(span.thread)])
        }
    }

    private mutating func countMailboxes() {
        for number in index.records(of: .signal) where contains(number) {
            statistics.signals += 1
            let target = index.entry(number).target
            if target >= 0 { statistics.mailboxes[Int(target)].signals += 1 }
        }
        statistics.lostSignals = index.records(of: .dropSignal).count(where: contains)
        statistics.refusedWaits = index.records(of: .refuseWait).count(where: contains)
        for number in index.records(of: .wait) where contains(number) {
            let thread = Int(index.entry(number).thread)
            if let time = index.duration(of: index.spans[Int(index.spanOfEntry[Int(number)])]) {
                waits[thread].append(time)
            } else {
                statistics.mailboxes[thread].endlessWaits += 1
            }
        }
        var drains = statistics.mailboxes.map { _ in [Int32]() }
        for number in index.records(of: .drain) where contains(number) {
            drains[Int(index.entry(number).thread)].append(number)
        }
        for thread in drains.indices {
            statistics.mailboxes[thread].drains = drains[thread].count
            batches[thread] = drains[thread].map { _ in 0 }
        }
        for span in index.spans where !span.isWait && contains(span.begin) && index.waitBegin(span.begin) >= 0 {
            let drain = drains[Int(span.thread)].firstIndex(after: span.begin) - 1
            if drain >= 0 { batches[Int(span.thread)][drain] += 1 }
        }
        for (thread, depth) in index.depths(until: end, includes: contains).enumerated() where depth.appended > 0 {
            statistics.mailboxes[thread].appended = depth.appended
            statistics.mailboxes[thread].highestDepth = depth.highest
            if statistics.nanoseconds > 0 {
                statistics.mailboxes[thread].meanDepth = depth.waited / Double(statistics.nanoseconds)
            }
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
