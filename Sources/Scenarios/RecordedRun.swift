package import DeliveryRecording
internal import ThreadedNotifications

/// The records of a scenario's run, the posts and deliveries among them, and the expectations that scenarios share.
package final class RecordedRun {
    struct Delivery {
        var posted: DeliveryRecord
        var delivered: DeliveryRecord
        /// Nil if the observer has no register record.
        var registered: DeliveryRecord?
    }

    package let records: [DeliveryRecord]
    /// Made when it is needed first: a report that only counts records does without it.
    private lazy var pairs = Pairs(records)
    private lazy var countersOfObserver: [Int?: DeliveryCounters] = pairs.index.deliveries.reduce(into: [:]) {
        guard $1.skip < 0, isOfPost($1) else { return }
        let observer = $1.observer < 0 ? nil : pairs.index.recording.observers[Int($1.observer)].number
        $0[observer, default: DeliveryCounters()].count(record($1.outcome))
    }

    private let given: FloodTally?
    private(set) lazy var tally = given ?? FloodTally(records)

    /// - Parameter tally: counts the records, if not all of them were kept.
    package init(_ records: [DeliveryRecord], tally: FloodTally? = nil) { (self.records, given) = (records, tally) }

    /// True if the records are all that were made.
    package var isComplete: Bool { given == nil }

    /// True for a delivery of a recorded post, false for a performed block.
    private func isOfPost(_ delivery: RecordingIndex.Delivery) -> Bool {
        delivery.kind != .block && pairs.index.posts[Int(delivery.post)].posted >= 0
    }

    private func record(_ entry: Int32) -> DeliveryRecord? {
        entry < 0 ? nil : records[Int(pairs.index.entry(entry).line) - 1]
    }

    // MARK: Records

    /// - Parameter notification: nil means any.
    func all(_ stage: DeliveryStage, _ notification: String? = nil) -> [DeliveryRecord] {
        records.filter { $0.stage == stage && (notification == nil || $0.notification == notification) }
    }

    func count(_ stage: DeliveryStage) -> Int { tally.counts[stage] ?? 0 }

    func first(_ stage: DeliveryStage, _ notification: String? = nil) -> DeliveryRecord? {
        records.first { $0.stage == stage && (notification == nil || $0.notification == notification) }
    }

    func first(_ message: String) -> DeliveryRecord? { records.first { $0.message == message } }

    func all(_ message: String) -> [DeliveryRecord] { records.filter { $0.message == message } }

    var logs: [String] { records.lazy.filter { $0.stage == .log }.compactMap(\.message) }

    /// In order of delivery. A flood has millions of them, so each is made when it is read.
    var delivered: some Collection<Delivery> {
        pairs.index.recording.entries.indices.lazy.compactMap { [self] entry in
            let number = Int(pairs.index.deliveryOfEntry[entry])
            guard pairs.index.recording.entries[entry].stage == .deliver, number >= 0 else { return nil }
            let delivery = pairs.index.deliveries[number]
            guard delivery.outcome == entry, isOfPost(delivery) else { return nil }
            let registered = delivery.observer < 0 ? -1 : pairs.index.observers[Int(delivery.observer)].registered
            return Delivery(
                posted: record(pairs.index.posts[Int(delivery.post)].posted)!, delivered: record(delivery.outcome)!,
                registered: record(registered))
        }
    }

    func counters(of observer: Int?) -> DeliveryCounters { countersOfObserver[observer] ?? DeliveryCounters() }

    /// The outcomes of all notifications in posting queues, under one name or all names.
    func countersOfEnqueued(_ name: String? = nil) -> DeliveryCounters {
        pairs.index.posts.reduce(into: DeliveryCounters()) { counters, post in
            guard let enqueued = record(post.enqueued), name == nil || enqueued.notification == name else { return }
            counters.count(record(post.queueOutcome))
        }
    }

    // MARK: Expectations

    /// Expects that all of these were recorded, in this order, and that the condition holds.
    func expectOrder(_ claim: String, _ events: DeliveryRecord?..., and condition: Bool = true) -> Expectation {
        let numbers = events.compactMap { $0?.sequence }
        let isInOrder = numbers.count == events.count && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
        let texts = events.map { event in
            event.map { "\($0.sequence) \($0.stage) \($0.message ?? $0.notification ?? "")" } ?? "none"
        }
        return Expectation(
            claim, holds: isInOrder && condition, otherwise: "the records are \(texts.joined(separator: ", "))")
    }

    /// Expects that every post was delivered once to each observer, and that each delivery is correct.
    func expectEachDelivered(_ claim: String, where isCorrect: (Delivery) -> Bool = { _ in true }) -> Expectation {
        if let fault { return Expectation(claim, failure: fault) }
        let other = pairs.index.deliveries.lazy.filter { self.isOfPost($0) }.compactMap { self.record($0.outcome) }
            .first { $0.stage != .deliver }
        if let other { return Expectation(claim, failure: "\(other.postNumber) has the outcome \(other.stage)") }
        let wrong = delivered.first { !isCorrect($0) }
        return Expectation(
            claim,
            failure: wrong.map {
                "\($0.delivered.postNumber), posted on \($0.posted.thread), was handled on \($0.delivered.thread)"
            })
    }

    /// Guarantee 14: each pair of a post and an observer has one outcome.
    func expectOneOutcomeEach(_ claim: String) -> Expectation { Expectation(claim, failure: fault) }

    /// Guarantee 14, and that the library's counters of each observer agree with the records.
    var expectOutcomesAndCounters: [Expectation] {
        let counters = all(.count).map { ($0.counters, self.counters(of: $0.observer)) }
        return [expectOneOutcomeEach("each post has one outcome"), expectEqual(counters)]
    }

    /// Expects that each enqueued notification was posted, coalesced or dequeued, or that its thread ended: one of
    /// these, once. And that the library's counters of the scenario's one posting queue agree with the records.
    var expectQueueOutcomesAndCounters: [Expectation] {
        let enqueued = pairs.index.posts.indices.filter { pairs.index.posts[$0].enqueued >= 0 }
        return [
            .each(
                "each enqueued notification has one outcome", enqueued,
                { pairs.index.posts[$0].queueOutcome >= 0 && pairs.index.posts[$0].secondQueueOutcome < 0 },
                otherwise: { "post \(pairs.index.recording.posts[$0].number) has none or two" }),
            expectEqual(all(.count).suffix(1).map { ($0.counters, countersOfEnqueued()) }),
        ]
    }

    private func expectEqual(_ counters: [(counted: DeliveryCounters?, recorded: DeliveryCounters)]) -> Expectation {
        .each(
            "the library's counters agree with the records", counters, { $0.counted == $0.recorded },
            otherwise: { "\($0.counted ?? DeliveryCounters()), but the records show \($0.recorded)" })
    }

    private var fault: String? {
        if first(.post) == nil { return "nothing was posted" }
        for (number, post) in pairs.index.posts.enumerated() where post.posted >= 0 {
            let name = "post \(pairs.index.recording.posts[number].number)"
            let pending = pairs.index.pendingCount(ofPost: Int32(number))
            if pending > 0 { return "\(name) has no outcome for \(pending) of its observers" }
            let count = pairs.index.entry(post.posted).count
            if count >= 0, post.deliveryCount > count { return "\(name) has an outcome for one observer too many" }
        }
        for delivery in pairs.index.deliveries where delivery.kind != .block {
            guard let outcome = record(delivery.outcome) else { continue }
            if delivery.secondOutcome >= 0 { return "\(outcome.postNumber) has a second outcome" }
            if !isOfPost(delivery) { return "\(outcome.postNumber) was not posted, but has an outcome" }
        }
        return nil
    }

    /// Expects that the posts of one thread were delivered to each observer in the order of posting.
    func expectOrderKept(_ claim: String) -> Expectation {
        expectAscending(claim, by: { [$0.posted.thread, $0.delivered.observer] }, number: \.posted.sequence)
    }

    /// Expects that the observers that handle a post on the same thread were called in the order of their registration.
    func expectRegistrationOrder(_ claim: String) -> Expectation {
        expectAscending(
            claim, by: { [$0.delivered.post, $0.delivered.thread] }, number: { $0.registered?.sequence ?? 0 })
    }

    private func expectAscending(
        _ claim: String, by key: (Delivery) -> [AnyHashable], number: (Delivery) -> Int
    ) -> Expectation {
        var last: [[AnyHashable]: Int] = [:]
        for delivery in delivered {
            let number = number(delivery)
            if let before = last.updateValue(number, forKey: key(delivery)), before > number {
                return Expectation(claim, failure: "\(delivery.posted.postNumber) was handled too late")
            }
        }
        return Expectation(claim, failure: last.isEmpty ? "nothing was delivered" : nil)
    }
}

/// The index of a run's records. A class, so that reading an element does not copy the index.
private final class Pairs {
    let index: RecordingIndex

    init(_ records: [DeliveryRecord]) {
        // The line of each entry is the number of its record. Tests change the sequence numbers of records.
        let numbered = zip(1..., records).map { number, record in
            var record = record
            record.sequence = number
            return record
        }
        index = RecordingIndex(Recording(numbered))
    }
}

extension DeliveryCounters {
    /// - Parameter outcome: nil if it has none yet.
    fileprivate mutating func count(_ outcome: DeliveryRecord?) {
        switch outcome?.stage {
        case .deliver, .post: delivered += 1
        case .coalesce: coalesced += 1
        case .drop: if outcome?.policy == .refuse { refused += 1 } else { dropped += 1 }
        case .cancel, .dequeue: cancelled += 1
        case .targetGone: targetGone += 1
        default: waiting += 1
        }
    }
}

extension Sequence<DeliveryRecord> {
    var earliest: DeliveryRecord? { self.min { $0.sequence < $1.sequence } }
    var latest: DeliveryRecord? { self.max { $0.sequence < $1.sequence } }
}

extension DeliveryRecord {
    fileprivate var postNumber: String { post.map { "post \($0)" } ?? "a post without a number" }
}
