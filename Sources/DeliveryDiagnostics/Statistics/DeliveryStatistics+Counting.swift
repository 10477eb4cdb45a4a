package import DeliveryRecording
internal import ThreadedNotifications

extension DeliveryStatistics {
    /// Counts the selected records, by default all.
    package init(_ index: RecordingIndex, _ selection: RecordingSelection? = nil) {
        let (recording, selection) = (index.recording, selection ?? RecordingSelection(all: index.recording))
        let (first, last) = (recording.entries.first?.time ?? 0, recording.entries.last?.time ?? 0)
        let start = first + min(last - first, UInt64(selection.times.lowerBound))
        let upper = selection.times.upperBound
        let end = upper == .max ? last : max(start, first + min(last - first, UInt64(upper)))
        (source, nanoseconds, total) = (recording.source, end - start, Group("all", seconds: Double(end - start) / 1e9))
        (processCount, threadCount) = (recording.processes.count, recording.threads.count)
        let selected = recording.entries.lazy.filter(selection.contains)
        recordCount = selection.isEverything ? recording.entries.count : selected.reduce(0) { count, _ in count + 1 }
        let identifiers = TraceIdentifiers(recording)
        func group(_ label: String, _ process: Int32) -> Group {
            let place = recording.processes.count > 1 ? " of \(identifiers.processes[Int(process)])" : ""
            return Group(label + place, seconds: total.seconds)
        }
        // First, there are groups for all observers and threads, and the first name is that of blocks.
        threads = zip(recording.threads, identifiers.names).map { group($1, $0.process) }
        observers = recording.observers.map { group("\($0.number)", $0.process) }
        names = [Group(Self.blocks, seconds: total.seconds)]
        mailboxes = threads.map { Mailbox(label: $0.label) }
        func contains(_ number: Int32) -> Bool { selection.contains(index.entry(number)) }
        countDeliveries(index, selection, contains)
        countMailboxes(index, until: end, contains)
        countQueues(index, contains)
        countBetweenProcesses(index, contains)
        (names, observers) = (Self.busiestFirst(names), Self.busiestFirst(observers))
        let order = recording.ordered(recording.threads.indices)
        let used = order.filter { threads[$0].isUsed }
        // Threads without notifications are shown if there are no others.
        let recorded = Set(selected.map { Int($0.thread) })
        threads = (used.isEmpty ? order.filter(recorded.contains) : used).map { threads[$0] }
        mailboxes = order.map { mailboxes[$0] }.filter(\.isUsed)
    }

    /// The groups that are used, in descending order of posts and deliveries.
    private static func busiestFirst(_ groups: [Group]) -> [Group] {
        groups.enumerated().filter(\.element.isUsed)
            .sorted { (-$0.element.weight, $0.offset) < (-$1.element.weight, $1.offset) }.map(\.element)
    }

    // MARK: Groups

    private mutating func countDeliveries(
        _ index: RecordingIndex, _ selection: RecordingSelection, _ contains: (Int32) -> Bool
    ) {
        /// By name, which is the same in several processes.
        var nameIndices: [Int32: Int] = [-1: 0]
        for name in index.histories.map(\.name) where nameIndices[name] == nil {
            nameIndices[name] = names.count
            names.append(Group(index.recording.strings[Int(name)], seconds: total.seconds))
        }
        func count(_ name: Int32, observer: Int32 = -1, thread: Int32 = -1, _ change: (inout Group) -> Void) {
            change(&total)
            change(&names[nameIndices[name] ?? 0])
            if observer >= 0 { change(&observers[Int(observer)]) }
            if thread >= 0 { change(&threads[Int(thread)]) }
        }
        /// For each post: true if it is selected with all of its records; nil if the selection has only some.
        let wholePosts = selection.hasWholePosts ? selection.posts(of: index.recording) ?? [] : nil
        func includes(_ number: Int32) -> Bool {
            guard let wholePosts, case let post = index.entry(number).post, post >= 0 else { return contains(number) }
            return wholePosts.isEmpty || wholePosts[Int(post)]
        }
        for post in index.posts where post.posted >= 0 && index.isPost(post.posted) && contains(post.posted) {
            count(index.entry(post.posted).name, thread: index.entry(post.posted).thread) { $0.posted? += 1 }
        }
        for account in Accounts(index, includes: includes).all where account.table != .queues {
            count(account.table == .blocks ? -1 : account.name, observer: account.observer) { group in
                if account.table == .unobserved {
                    group.unobserved += account.counts[.matched]
                } else {
                    group.counts += account.counts
                }
            }
            if account.observer >= 0 { observers[Int(account.observer)].describe(account, index) }
        }
        for delivery in index.deliveries {
            let number = delivery.outcome >= 0 ? delivery.outcome : delivery.append
            guard number >= 0, delivery.skip < 0 || delivery.outcome >= 0, includes(number) else { continue }
            let (entry, mailbox) = (index.entry(number), index.mailbox(of: delivery))
            let isDelivered = delivery.outcome >= 0 && entry.stage == .deliver
            let thread = isDelivered ? entry.thread : mailbox >= 0 ? mailbox : entry.target
            let count = delivery.outcome < 0 ? .pending : Accounts.Count(entry.stage) ?? .pending
            threads[Int(thread >= 0 ? thread : entry.thread)].counts[count] += 1
            threads[Int(thread >= 0 ? thread : entry.thread)].counts[.matched] += 1
        }
        for span in index.spans where !span.isWait && contains(span.begin) {
            let (posted, begun) = (index.posted(span.begin), index.waitBegin(span.begin))
            let (entry, duration) = (index.entry(span.begin), index.duration(of: span))
            count(entry.name, observer: entry.observer, thread: span.thread) { group in
                if span.ending.runsOn { group.neverReturned += 1 }
                if posted >= 0 { group.latencies.append(index.time(from: posted, to: span.begin)) }
                if begun >= 0 { group.waits.append(index.time(from: begun, to: span.begin)) }
                if let duration { group.durations.append(duration) }
            }
        }
    }

    // MARK: Mailboxes and queues

    private mutating func countMailboxes(_ index: RecordingIndex, until end: UInt64, _ contains: (Int32) -> Bool) {
        for entry in index.records(of: .signal).filter(contains).map(index.entry) {
            signals += 1
            if entry.target >= 0 { mailboxes[Int(entry.target)].signals += 1 }
        }
        lostSignals = index.records(of: .dropSignal).count(where: contains)
        refusedWaits = index.records(of: .refuseWait).count(where: contains)
        let drains = Dictionary(grouping: index.records(of: .drain).filter(contains)) { Int(index.entry($0).thread) }
        /// For each thread: the times of its waits that ended, and the number of deliveries in each of its drains.
        var (waits, batches) = (threads.map { _ in [UInt64]() }, threads.map { _ in [UInt64]() })
        for (thread, drains) in drains { batches[thread] = drains.map { _ in 0 } }
        for span in index.spans where contains(span.begin) {
            let thread = Int(span.thread)
            if span.isWait {
                let time = index.duration(of: span)
                if let time { waits[thread].append(time) } else { mailboxes[thread].endlessWaits += 1 }
            } else if index.waitBegin(span.begin) >= 0 {
                let drain = drains[thread, default: []].firstIndex(after: span.begin) - 1
                if drain >= 0 { batches[thread][drain] += 1 }
            }
        }
        for (thread, depth) in index.depths(until: end, includes: contains).enumerated() {
            mailboxes[thread].drains = batches[thread].count
            mailboxes[thread].deliveriesPerDrain = Distribution(of: batches[thread])
            mailboxes[thread].waits = Distribution(of: waits[thread])
            guard depth.appended > 0 else { continue }
            (mailboxes[thread].appended, mailboxes[thread].highestDepth) = (depth.appended, depth.highest)
            if nanoseconds > 0 { mailboxes[thread].meanDepth = depth.waited / Double(nanoseconds) }
        }
        self.drains = drains.values.reduce(0) { $0 + $1.count }
        (self.waits, deliveriesPerDrain) = (Distribution(of: waits.joined()), Distribution(of: batches.joined()))
    }

    private mutating func countQueues(_ index: RecordingIndex, _ contains: (Int32) -> Bool) {
        var times: [UInt64] = []
        queues.enqueued = index.records(of: .enqueue).count(where: contains)
        for post in index.posts where post.enqueued >= 0 && post.queueOutcome >= 0 && contains(post.queueOutcome) {
            switch index.entry(post.queueOutcome).stage {
            case .post:
                queues.posted += 1
                times.append(index.time(from: post.enqueued, to: post.queueOutcome))
            case .coalesce: queues.coalesced += 1
            case .dequeue: queues.dequeued += 1
            default: queues.targetGone += 1
            }
        }
        queues.waiting = Distribution(of: times)
    }

    private mutating func countBetweenProcesses(_ index: RecordingIndex, _ contains: (Int32) -> Bool) {
        func process(_ post: Int32) -> String {
            let process = index.recording.processes[index.process(ofPost: post)]
            return "\(process.name) \(process.id)"
        }
        var (links, times): ([Link], [[UInt64]]) = ([], [])
        func add(_ sender: Int32, _ receiver: Int32?, _ time: UInt64?) {
            let (from, to) = (process(sender), receiver.map(process))
            var link = links.firstIndex { $0.sender == from && $0.receiver == to }
            if link == nil {
                links.append(Link(sender: from, receiver: to))
                times.append([])
                link = links.count - 1
            }
            guard let link else { return }
            links[link].notifications += 1
            if let time { times[link].append(time) }
        }
        for number in index.posts.indices.map({ Int32($0) }) {
            let post = index.posts[Int(number)]
            guard post.posted >= 0, contains(post.posted) else { continue }
            if post.sentBy >= 0 {
                let sent = index.posts[Int(post.sentBy)].posted
                add(post.sentBy, number, index.time(from: sent, to: post.posted))
            } else if post.receptions == 0, index.isSent(number) {
                add(number, nil, nil)
            }
        }
        betweenProcesses = zip(links, times).map { link, times in
            var link = link
            link.times = Distribution(of: times)
            return link
        }
    }
}

extension DeliveryStatistics.Group {
    /// Names the observer of an account. Its other accounts are those of other names.
    fileprivate mutating func describe(_ account: Accounts.Account, _ index: RecordingIndex) {
        let (recording, registration) = (index.recording, index.registration(of: account.observer))
        let (name, target) = (account.name >= 0 ? account.name : registration?.name ?? -1, registration?.target ?? -1)
        posted = nil
        if name >= 0 {
            let number = label.dropLast(self.name.map { $0.count + 1 } ?? 0)
            self.name = recording.strings[Int(name)]
            label = "\(number) \(recording.strings[Int(name)])"
        }
        location = registration.flatMap(recording.location(of:))?.description
        policies = (policies + account.policies).sorted()
        for thread in (target >= 0 ? [target] : account.threads.sorted()).map(recording.describeThread)
        where !threads.contains(thread) { threads.append(thread) }
    }
}
