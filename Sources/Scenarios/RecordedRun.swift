package import DeliveryRecording
internal import ThreadedNotifications

/// The records of a scenario's run, and the expectations that scenarios share.
package final class RecordedRun {
    struct Delivery {
        var posted: DeliveryRecord
        var delivered: DeliveryRecord
        /// Nil if the observer has no register record.
        var registered: DeliveryRecord?
    }

    package let records: [DeliveryRecord]
    private let given: FloodTally?
    private(set) lazy var tally = given ?? FloodTally(records)
    /// The deliveries of posts, in order.
    private(set) lazy var delivered: [Delivery] = {
        func first(_ stage: DeliveryStage, by key: (DeliveryRecord) -> Int?) -> [Int: DeliveryRecord] {
            Dictionary(all(stage).compactMap { record in key(record).map { ($0, record) } }) { first, _ in first }
        }
        let (posts, registrations) = (first(.post, by: \.post), first(.register, by: \.observer))
        return all(.deliver).compactMap { record in
            record.post.flatMap { posts[$0] }.map { post in
                Delivery(
                    posted: post, delivered: record, registered: record.observer.flatMap { registrations[$0] })
            }
        }
    }()

    /// - Parameter tally: counts the records, if not all of them were kept.
    package init(_ records: [DeliveryRecord], tally: FloodTally? = nil) { (self.records, given) = (records, tally) }

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
        let posts = all(.post)
        let counts = Dictionary(grouping: delivered, by: \.delivered.post).mapValues(\.count)
        let other = posts.first { counts[$0.post] != $0.count ?? 1 }
        let pairs = Set(delivered.map { [$0.delivered.post, $0.delivered.observer] })
        let wrong = delivered.first { !isCorrect($0) }
        let failure =
            posts.isEmpty
            ? "nothing was posted"
            : other.map { "\($0.postNumber) was delivered \(counts[$0.post] ?? 0) times" }
                ?? (pairs.count < delivered.count ? "a post was delivered twice to an observer" : nil)
                ?? wrong.map {
                    "\($0.delivered.postNumber), posted on \($0.posted.thread), was handled on \($0.delivered.thread)"
                }
        return Expectation(claim, failure: failure)
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

extension Sequence<DeliveryRecord> {
    var earliest: DeliveryRecord? { self.min { $0.sequence < $1.sequence } }
    var latest: DeliveryRecord? { self.max { $0.sequence < $1.sequence } }
}

extension DeliveryRecord {
    fileprivate var postNumber: String { post.map { "post \($0)" } ?? "a post without a number" }
}
