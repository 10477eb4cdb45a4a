package import DeliveryRecording
internal import ThreadedNotifications

/// Counts, durations and mailbox depths of a recording: in total, and by name, observer and thread.
///
/// The counts are those of `Accounts`, and add up. Values without any records are nil, not 0.
package struct DeliveryStatistics: Sendable, Encodable {
    /// The statistics of one name, observer or thread, or of all.
    package struct Group: Sendable, Encodable {
        package var label: String
        /// Of an observer, as is the location.
        var name: String?
        var location: String?
        /// The number of posts, with those that no observer matched. For a thread: of posts made on it. Nil for an
        /// observer.
        package var posted: Int? = 0
        /// Of a name, and in total: posts that no observer matched.
        var unobserved = 0
        /// For a thread: what was delivered on it, or was in its mailbox.
        package var counts = Accounts.Counts()
        /// The times from `post` to `deliver`, from `append` to `deliver`, and from `deliver` to `return`, including
        /// nested deliveries.
        fileprivate var latencies: [UInt64] = [], waits: [UInt64] = [], durations: [UInt64] = []

        init(_ label: String) { self.label = label }

        init(observer: Int32, _ index: RecordingIndex) {
            let registration = index.registration(of: observer)
            name = registration.flatMap(index.recording.name(of:))
            label = index.recording.describeObserver(observer).dropFirst(9) + (name.map { " \($0)" } ?? "")
            location = registration.flatMap(index.recording.location(of:))?.description
            posted = nil
        }

        package var postToDelivery: Distribution? { Distribution(of: latencies) }
        var waiting: Distribution? { Distribution(of: waits) }
        package var handler: Distribution? { Distribution(of: durations) }

        /// Posts, or matches of an observer.
        var posts: Int { posted ?? counts[.matched] }
        fileprivate var weight: Int { posts + counts[.delivered] }

        private enum Key: String, CodingKey {
            case label, name, location, posted, unobserved, postToDelivery, waiting, handler
        }

        package func encode(to encoder: any Encoder) throws {
            try counts.encode(to: encoder)
            var values = encoder.container(keyedBy: Key.self)
            try values.encode(label, forKey: .label)
            try values.encode(unobserved, forKey: .unobserved)
            try values.encodeIfPresent(name, forKey: .name)
            try values.encodeIfPresent(location, forKey: .location)
            try values.encodeIfPresent(posted, forKey: .posted)
            try values.encodeIfPresent(postToDelivery, forKey: .postToDelivery)
            try values.encodeIfPresent(waiting, forKey: .waiting)
            try values.encodeIfPresent(handler, forKey: .handler)
        }
    }

    /// What waited in the mailbox of a thread.
    package struct Mailbox: Sendable, Encodable {
        let label: String
        let appended: Int
        let highestDepth: Int
    }

    /// What one process posted to others, and a recorded process received; or nobody, if `receiver` is nil.
    package struct Link: Sendable, Encodable {
        let sender: String
        let receiver: String?
        let notifications: Int
        /// The times from the post to the reader of the receiver's center.
        let times: Distribution?
    }

    /// The label of performed blocks, which have no name.
    static let blocks = "(blocks)"

    let source: String
    let recordCount: Int
    let processCount: Int
    let threadCount: Int
    /// From the first record to the last one.
    let nanoseconds: UInt64
    package var total = Group("all")
    /// Of posting queues: those that were posted count as delivered, those that were dequeued as cancelled.
    let queues: Accounts.Counts
    /// In descending order of posts and deliveries.
    var names: [Group]
    var observers: [Group]
    /// In the order of processes and thread numbers.
    var threads: [Group]
    var mailboxes: [Mailbox]
    /// In the order of their first posts.
    let betweenProcesses: [Link]

    /// Counts the selected records, by default all.
    package init(_ index: RecordingIndex, _ selection: RecordingSelection? = nil) {
        let (recording, selection) = (index.recording, selection ?? RecordingSelection(all: index))
        func contains(_ number: Int32) -> Bool { selection.contains(index.entry(number)) }
        let selected = recording.entries.indices.map(Int32.init).filter(contains)
        (source, recordCount) = (recording.source, selected.count)
        nanoseconds = selected.isEmpty ? 0 : index.time(from: selected[0], to: selected[selected.count - 1])
        (processCount, threadCount) = (recording.processes.count, recording.threads.count)
        // First, there are groups for all observers and threads, and the first name is that of blocks.
        threads = recording.threads.indices.map { Group(RecordWords(index: index).numberedThread(Int32($0))) }
        observers = recording.observers.indices.map { Group(observer: Int32($0), index) }
        names = [Group(Self.blocks)]
        let accounts = Accounts(index, includes: contains)
        queues = accounts.sum(.queues)
        mailboxes = zip(threads, index.depths(includes: contains)).map { thread, depth in
            Mailbox(label: thread.label, appended: depth.appended, highestDepth: depth.highest)
        }
        betweenProcesses = Self.links(index, contains)
        count(index, accounts, contains)
        (names, observers) = (Self.busiestFirst(names), Self.busiestFirst(observers))
        let order = recording.ordered(recording.threads.indices)
        threads = order.map { threads[$0] }.filter { $0.weight + $0.counts[.matched] > 0 }
        mailboxes = order.map { mailboxes[$0] }.filter { $0.appended > 0 }
    }

    private static func busiestFirst(_ groups: [Group]) -> [Group] {
        groups.enumerated().filter { $0.element.weight + $0.element.counts[.matched] > 0 }
            .sorted { (-$0.element.weight, $0.offset) < (-$1.element.weight, $1.offset) }.map(\.element)
    }

    private mutating func count(_ index: RecordingIndex, _ accounts: Accounts, _ contains: (Int32) -> Bool) {
        /// By name, which is the same in several processes.
        var nameIndices: [Int32: Int] = [-1: 0]
        for name in index.histories.map(\.name) where nameIndices[name] == nil {
            nameIndices[name] = names.count
            names.append(Group(index.recording.strings[Int(name)]))
        }
        func count(_ name: Int32, observer: Int32 = -1, thread: Int32 = -1, _ change: (inout Group) -> Void) {
            change(&total)
            change(&names[nameIndices[name] ?? 0])
            if observer >= 0 { change(&observers[Int(observer)]) }
            if thread >= 0 { change(&threads[Int(thread)]) }
        }
        for post in index.posts where post.posted >= 0 && index.isPost(post.posted) && contains(post.posted) {
            count(index.entry(post.posted).name, thread: index.entry(post.posted).thread) { $0.posted? += 1 }
        }
        for account in accounts.all where account.table != .queues {
            count(account.table == .blocks ? -1 : account.name, observer: account.observer) { group in
                if account.table == .unobserved {
                    group.unobserved += account.counts[.matched]
                } else {
                    group.counts += account.counts
                }
            }
        }
        for (place, delivery) in index.deliveries.enumerated() {
            let number = delivery.outcome >= 0 ? delivery.outcome : delivery.append
            guard number >= 0, delivery.skip < 0 || delivery.outcome >= 0, contains(number) else { continue }
            let (entry, mailbox) = (index.entry(number), index.mailbox(of: delivery))
            let isLost = delivery.outcome < 0 && accounts.isLost(place, index)
            let count = delivery.outcome < 0 ? isLost ? .lost : .pending : Accounts.Count(entry.stage) ?? .pending
            let thread = count == .delivered ? entry.thread : mailbox >= 0 ? mailbox : max(entry.target, -1)
            threads[Int(thread >= 0 ? thread : entry.thread)].counts[count] += 1
            threads[Int(thread >= 0 ? thread : entry.thread)].counts[.matched] += 1
        }
        for span in index.spans where !span.isWait && contains(span.begin) {
            let (posted, begun) = (index.posted(span.begin), index.waitBegin(span.begin))
            let (entry, duration) = (index.entry(span.begin), index.duration(of: span))
            count(entry.name, observer: entry.observer, thread: span.thread) { group in
                if posted >= 0 { group.latencies.append(index.time(from: posted, to: span.begin)) }
                if begun >= 0 { group.waits.append(index.time(from: begun, to: span.begin)) }
                if let duration { group.durations.append(duration) }
            }
        }
    }

    private static func links(_ index: RecordingIndex, _ contains: (Int32) -> Bool) -> [Link] {
        func process(_ post: Int32) -> String {
            let process = index.recording.processes[index.process(ofPost: post)]
            return "\(process.name) \(process.id)"
        }
        let received = index.posts.indices.map(Int32.init).filter { number in
            let post = index.posts[Int(number)]
            return post.posted >= 0 && contains(post.posted)
                && (post.sentBy >= 0 || post.receptions == 0 && index.isSent(number))
        }
        let links = received.grouped { number in
            let sender = index.posts[Int(number)].sentBy
            return sender < 0 ? [process(number)] : [process(sender), process(number)]
        }
        return links.sorted { $0[0] < $1[0] }.map { posts in
            let sent = posts.map { index.posts[Int($0)] }.filter { $0.sentBy >= 0 }
            let times = sent.map { index.time(from: index.posts[Int($0.sentBy)].posted, to: $0.posted) }
            return Link(
                sender: process(sent.first?.sentBy ?? posts[0]), receiver: sent.isEmpty ? nil : process(posts[0]),
                notifications: posts.count, times: Distribution(of: times))
        }
    }
}

/// The distribution of times in nanoseconds.
///
/// The p-th percentile is the smallest value such that p percent of the values are no greater.
package struct Distribution: Sendable, Encodable {
    package let count: Int
    package let p50: UInt64
    package let p99: UInt64
    package let max: UInt64

    package init?(of values: [UInt64]) {
        let sorted = values.sorted()
        guard let max = sorted.last else { return nil }
        func percentile(_ percent: Int) -> UInt64 { sorted[(sorted.count * percent + 99) / 100 - 1] }
        (count, p50, p99, self.max) = (sorted.count, percentile(50), percentile(99), max)
    }
}

extension Accounts.Counts: Encodable {
    package func encode(to encoder: any Encoder) throws {
        try Dictionary(uniqueKeysWithValues: Accounts.Count.allCases.map { ("\($0)", self[$0]) }).encode(to: encoder)
    }
}
