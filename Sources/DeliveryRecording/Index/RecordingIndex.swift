internal import ThreadedNotifications

/// Which records of a recording belong together: posts and their deliveries, handlers and waits on each thread, stays
/// in posting queues.
///
/// Diagnosis, rules, statistics, comparison, timeline and trace are functions of it. `Int32` values are indices of
/// `recording.entries`, unless their comment names another array; -1 means none.
///
/// Accepts any recording. A record without a counterpart has no link.
/// Cost: two passes over the records, and a dictionary lookup for each record of a post that has several observers;
/// 16 bytes for each record, 40 for each delivery and 32 for each handler or wait.
package struct RecordingIndex: Sendable {
    package let recording: Recording
    /// In the order of `recording.posts`, `observers`, `threads` and `processes`.
    package internal(set) var posts: [Post]
    package internal(set) var observers: [Observer]
    package internal(set) var threads: [Thread]
    package internal(set) var processes: [Process]
    /// In the order of their first records.
    package internal(set) var deliveries: [Delivery] = []
    /// Handlers, blocks and waits, in the order of their beginnings.
    package internal(set) var spans: [Span] = []
    /// For each entry: the delivery that it is a record of, in `deliveries`.
    package internal(set) var deliveryOfEntry: [Int32]
    /// For each entry: the span that it begins or ends, in `spans`.
    package internal(set) var spanOfEntry: [Int32]
    /// For each entry: the innermost span that its thread is in, in `spans`. A span contains the record of its end, and
    /// not that of its beginning.
    package internal(set) var spanAroundEntry: [Int32]
    /// `return` records without a `deliver`.
    package internal(set) var strayReturns: [Int32] = []
    /// Records of leaving a posting queue without an `enqueue`.
    package internal(set) var strayQueueOutcomes: [Int32] = []
    /// The posts and observers of each name, in the order of their first records.
    package internal(set) var histories: [NameHistory] = []
    /// For each entry: the record before it on its thread.
    package internal(set) var before: [Int32]
    /// By process and name: an index in `histories`.
    var historyOfName: [UInt64: Int] = [:]
    /// See `records(of:)`.
    var recordsOfStage: [DeliveryStage: [Int32]] = [:]
    /// For posts of several observers: the delivery of each observer.
    var deliveryOfKey: [UInt64: Int32] = [:]

    package init(_ recording: Recording) {
        var builder = IndexBuilder(recording)
        self = builder.build()
    }

    init(empty recording: Recording) {
        self.recording = recording
        posts = Array(repeating: Post(), count: recording.posts.count)
        observers = Array(repeating: Observer(), count: recording.observers.count)
        threads = Array(repeating: Thread(), count: recording.threads.count)
        processes = Array(repeating: Process(), count: recording.processes.count)
        deliveryOfEntry = Array(repeating: -1, count: recording.entries.count)
        (spanOfEntry, spanAroundEntry, before) = (deliveryOfEntry, deliveryOfEntry, deliveryOfEntry)
    }

    /// A post, or a performed block.
    package struct Post: Sendable {
        /// The first `post` or `capture`. A block has none.
        package internal(set) var posted: Int32 = -1
        package internal(set) var enqueued: Int32 = -1
        /// The record of leaving its posting queue: `post`, `coalesce`, `dequeue` or `targetGone`.
        package internal(set) var queueOutcome: Int32 = -1
        /// A second such record, which is a fault.
        package internal(set) var secondQueueOutcome: Int32 = -1
        /// The handler that posted, enqueued or performed it, in `spans`.
        package internal(set) var cause: Int32 = -1
        /// In `deliveries`.
        package internal(set) var firstDelivery: Int32 = -1
        package internal(set) var deliveryCount: Int32 = 0
        /// The `postEnd` of a post to a Foundation center.
        package internal(set) var returned: Int32 = -1
        /// True if the recording ends while the thread was posting it.
        package internal(set) var isUnfinished = false
        /// Of a notification that came through the server: the post that sent it, if its process was recorded.
        package internal(set) var sentBy: Int32 = -1
        /// Of a post to other processes: how many centers of recorded processes received it.
        package internal(set) var receptions: Int32 = 0
    }

    /// A post for one observer, or a performed block.
    package struct Delivery: Sendable {
        /// An index in `recording.posts`.
        package let post: Int32
        /// An index in `recording.observers`; -1 for a block, and if the records do not tell observers apart.
        package let observer: Int32
        /// Where it begins to wait for its thread: `append`. -1 if it was delivered on the posting thread.
        package internal(set) var append: Int32 = -1
        package internal(set) var outcome: Int32 = -1
        /// A second outcome, which is a fault.
        package internal(set) var secondOutcome: Int32 = -1
        package internal(set) var skip: Int32 = -1
        /// The call of its handler, in `spans`.
        package internal(set) var span: Int32 = -1
        /// The next delivery of the same post, in `deliveries`.
        package internal(set) var next: Int32 = -1
        package let isBlock: Bool

        /// True if it has no outcome, and its observer was not skipped.
        package var isPending: Bool { outcome < 0 && skip < 0 }
        /// Its first record.
        package var first: Int32 { append >= 0 ? append : outcome >= 0 ? outcome : skip }

        init(post: Int32, observer: Int32, isBlock: Bool) {
            (self.post, self.observer, self.isBlock) = (post, observer, isBlock)
        }
    }

    /// A handler or block that a thread runs, or its wait for another thread.
    package struct Span: Sendable {
        /// The `deliver` or `wait`.
        package let begin: Int32
        /// The record that ended it, or -1. See `ending`.
        package internal(set) var end: Int32 = -1
        /// The span that it is in, in `spans`.
        package let outer: Int32
        /// In `deliveries`; -1 for a wait, and if the post is unknown.
        package let delivery: Int32
        package let thread: Int32
        /// The number of spans that it is in.
        package let depth: Int32
        package let isWait: Bool
        package internal(set) var ending = Ending.open

        package enum Ending: UInt8, Sendable {
            /// `end` is its `return` or `waitEnd`.
            case returned
            /// It has no record of its own end. A span around it or its thread ended with the record `end`.
            case abandoned
            /// It continues until its process ends, with the record `end` if there is one.
            case open
            /// It may return on another thread: a handler of an asynchronous message of Foundation.
            case notRecorded
        }
    }

    package struct Observer: Sendable {
        package internal(set) var registered: Int32 = -1
        package internal(set) var removed: Int32 = -1
        /// The number of its outcomes of unknown posts, from before the recording.
        package internal(set) var earlier = 0
    }

    package struct Thread: Sendable {
        /// The first record of which it is the thread or the target.
        package internal(set) var first: Int32 = -1
        /// Its last record, except `end`.
        package internal(set) var last: Int32 = -1
        /// `threadEnd`.
        package internal(set) var end: Int32 = -1
    }

    package struct Process: Sendable {
        package internal(set) var last: Int32 = -1
        /// The last `end` or `processEnd`.
        package internal(set) var end: Int32 = -1
    }
}

// MARK: Questions

extension RecordingIndex {
    package func entry(_ index: Int32) -> Recording.Entry { recording.entries[Int(index)] }

    /// The records of a stage other than those of single posts and deliveries.
    package func records(of stage: DeliveryStage) -> [Int32] { recordsOfStage[stage] ?? [] }

    package func process(ofPost post: Int32) -> Int { Int(recording.posts[Int(post)].process) }

    /// The record at which a post begins: its `post` or `capture`, or the `append` of a block; -1 if it is unknown.
    package func origin(ofPost post: Int32) -> Int32 {
        let post = posts[Int(post)]
        if post.posted >= 0 || post.firstDelivery < 0 { return post.posted }
        return deliveries[Int(post.firstDelivery)].append
    }

    /// The deliveries of a post, in the order of their first records: indices in `deliveries`.
    package func deliveries(ofPost post: Int32) -> some Sequence<Int> {
        sequence(state: posts[Int(post)].firstDelivery) { next in
            guard next >= 0 else { return nil }
            defer { next = deliveries[Int(next)].next }
            return Int(next)
        }
    }

    /// True for a post to other processes, at its poster.
    package func isSent(_ post: Int32) -> Bool {
        recording.origins[post] != nil && posts[Int(post)].posted >= 0
            && entry(posts[Int(post)].posted).stage == .post
    }

    /// The number of deliveries of a post without an outcome, with those that have no records at all.
    package func pendingCount(ofPost post: Int32) -> Int {
        let posted = posts[Int(post)].posted
        // A post to a Foundation center has called all of its handlers when it returns.
        let unrecorded =
            posted < 0 || posts[Int(post)].returned >= 0
            ? 0 : max(0, Int(entry(posted).count) - Int(posts[Int(post)].deliveryCount))
        return deliveries(ofPost: post).reduce(unrecorded) { $0 + (deliveries[$1].isPending ? 1 : 0) }
    }

    /// The name of a post; -1 for a block.
    package func name(ofPost post: Int32) -> Int32 {
        let entry = posts[Int(post)].posted >= 0 ? posts[Int(post)].posted : posts[Int(post)].enqueued
        return entry < 0 ? -1 : self.entry(entry).name
    }

    /// The name of a delivery; -1 for a block.
    package func name(of delivery: Delivery) -> Int32 {
        let name = name(ofPost: delivery.post)
        return name >= 0 || delivery.first < 0 ? name : entry(delivery.first).name
    }

    /// The record that tells what became of a delivery; that of its beginning, or of its post, if it has no outcome.
    package func record(of delivery: Delivery) -> Int32 {
        let own = delivery.outcome >= 0 ? delivery.outcome : delivery.first
        return own >= 0 ? own : posts[Int(delivery.post)].posted
    }

    /// The thread that a delivery is or was for; -1 if it is unknown.
    package func target(of delivery: Delivery) -> Int32 {
        if delivery.append >= 0, entry(delivery.append).target >= 0 { return entry(delivery.append).target }
        if let declared = registration(of: delivery.observer)?.target, declared >= 0 { return declared }
        return delivery.outcome >= 0 ? entry(delivery.outcome).target : -1
    }

    /// The thread in whose mailbox a delivery waits or waited; -1 if it did not wait, or if the thread is unknown.
    package func mailbox(of delivery: Delivery) -> Int32 {
        guard delivery.append >= 0 else { return -1 }
        let target = target(of: delivery)
        return target < 0 && delivery.outcome >= 0 ? entry(delivery.outcome).thread : target
    }

    /// True if the delivery's target thread ended after the delivery was handed to it.
    package func targetHasEnded(_ delivery: Delivery) -> Bool {
        let target = target(of: delivery)
        return target >= 0 && delivery.append >= 0 && threads[Int(target)].end > delivery.append
    }

    /// True if the notification was appended to the mailbox of no known thread, as for an async handler, which any
    /// thread may run. Its call is recorded when it has returned.
    package func hasNoTarget(_ span: Span) -> Bool {
        guard span.delivery >= 0 else { return false }
        let delivery = deliveries[Int(span.delivery)]
        return delivery.append >= 0 && target(of: delivery) < 0
    }

    /// The first `register` record of an observer; nil if it is unknown.
    package func registration(of observer: Int32) -> Recording.Entry? {
        guard observer >= 0, observers[Int(observer)].registered >= 0 else { return nil }
        return entry(observers[Int(observer)].registered)
    }

    /// The innermost handler that a record's thread is in, in `spans`; -1 if it is in none.
    package func handlerAround(_ entry: Int32) -> Int32 { handler(spanAroundEntry[Int(entry)]) }

    /// The span itself if it is a handler; otherwise the innermost handler around it.
    package func handler(_ span: Int32) -> Int32 {
        var span = span
        while span >= 0, spans[Int(span)].isWait { span = spans[Int(span)].outer }
        return span
    }

    /// The number of spans that a record's thread is in.
    package func depth(of entry: Int32) -> Int {
        let span = spanAroundEntry[Int(entry)]
        return span < 0 ? 0 : Int(spans[Int(span)].depth) + 1
    }

    /// The time from the beginning of a span to its recorded end, in nanoseconds; nil if the end was not recorded.
    package func duration(of span: Span) -> UInt64? {
        span.ending == .returned ? time(from: span.begin, to: span.end) : nil
    }

    /// The time between two records, in nanoseconds; 0 if a damaged file has descending times.
    package func time(from begin: Int32, to end: Int32) -> UInt64 {
        let (begin, end) = (entry(begin).time, entry(end).time)
        return end > begin ? end - begin : 0
    }

    /// The index in `deliveries`, or -1.
    func delivery(_ post: Int32, _ observer: Int32) -> Int32 {
        let first = posts[Int(post)].firstDelivery
        if first < 0 || deliveries[Int(first)].observer == observer { return first }
        return deliveryOfKey[Self.key(post, observer)] ?? -1
    }

    static func key(_ post: Int32, _ observer: Int32) -> UInt64 {
        UInt64(UInt32(bitPattern: post)) << 32 | UInt64(UInt32(bitPattern: observer))
    }
}
