internal import Foundation
internal import ThreadedNotifications

/// The records of a run, looked at post by post, and what a scenario may expect of them.
struct Deliveries {
    /// A post and its one delivery.
    struct Delivery {
        var posted: DeliveryRecord
        var delivered: DeliveryRecord
    }

    let registered: [DeliveryRecord]
    let posted: [DeliveryRecord]
    /// Those that a post was found for, in the order in which they were delivered.
    let deliveries: [Delivery]
    let counts: [DeliveryStage: Int]
    private let undelivered: [DeliveryRecord]
    private let deliveredAgain: [DeliveryRecord]
    private let deliveredUnposted: [DeliveryRecord]

    init(_ records: [DeliveryRecord]) {
        registered = records.filter { $0.stage == .register }
        posted = records.filter { $0.stage == .post }
        counts = records.reduce(into: [:]) { $0[$1.stage, default: 0] += 1 }

        var waiting = Dictionary(posted.map { ($0.post, $0) }) { first, _ in first }
        let numbers = Set(waiting.keys)
        var deliveries: [Delivery] = []
        var again: [DeliveryRecord] = []
        var unposted: [DeliveryRecord] = []
        for record in records where record.stage == .deliver {
            if let post = waiting.removeValue(forKey: record.post) {
                deliveries.append(Delivery(posted: post, delivered: record))
            } else if numbers.contains(record.post) {
                again.append(record)
            } else {
                unposted.append(record)
            }
        }
        self.deliveries = deliveries
        undelivered = posted.filter { waiting[$0.post] != nil }
        deliveredAgain = again
        deliveredUnposted = unposted
    }

    func count(_ stage: DeliveryStage) -> Int {
        counts[stage] ?? 0
    }

    func expectRegisteredOnMain() -> Expectation {
        let elsewhere = registered.first { $0.thread.number != 1 }
        return Expectation(
            "registered on the main thread", holds: !registered.isEmpty && elsewhere == nil,
            otherwise: elsewhere.map { "registered on \($0.thread)" } ?? "nothing was registered")
    }

    func expectPostedInBackground() -> Expectation {
        let onMain = posted.first { $0.thread.number == 1 }
        return Expectation(
            "posted in the background", holds: !posted.isEmpty && onMain == nil,
            otherwise: onMain == nil ? "nothing was posted" : "posted on the main thread")
    }

    /// Every post was delivered once, and rightly so.
    func expectEachDelivered(_ claim: String, where isRight: (Delivery) -> Bool) -> Expectation {
        if posted.isEmpty { return Expectation(claim, failure: "nothing was posted") }
        if let lost = undelivered.first {
            return Expectation(
                claim, failure: "\(undelivered.count) of \(posted.count) posts not delivered, the first of them \(lost.postNumber)")
        }
        if let again = deliveredAgain.first {
            return Expectation(claim, failure: "post \(again.postNumber) was delivered more than once")
        }
        if let unposted = deliveredUnposted.first {
            return Expectation(claim, failure: "post \(unposted.postNumber) was delivered, and never posted")
        }
        let wrong = deliveries.first { !isRight($0) }
        return Expectation(
            claim, holds: wrong == nil,
            otherwise: wrong.map {
                "post \($0.posted.postNumber), posted on \($0.posted.thread), was handled on \($0.delivered.thread)"
            } ?? "")
    }

    /// What one thread posted was delivered in the order in which it was posted.
    func expectOrderKept(_ claim: String) -> Expectation {
        var last: [ThreadIdentity: DeliveryRecord] = [:]
        for delivery in deliveries {
            if let before = last[delivery.posted.thread], before.sequence > delivery.posted.sequence {
                return Expectation(
                    claim,
                    failure: "post \(delivery.posted.postNumber) of \(delivery.posted.thread) was handled after its post "
                        + "\(before.postNumber), which was posted later")
            }
            last[delivery.posted.thread] = delivery.posted
        }
        return Expectation(claim, holds: !deliveries.isEmpty, otherwise: "nothing was delivered")
    }
}

extension DeliveryRecord {
    fileprivate var postNumber: String { post.map(String.init) ?? "without a number" }
}

extension Expectation {
    /// What the records log has the structure of a document's log.
    static func matches(_ reference: ReferenceLog, _ records: [DeliveryRecord]) -> Expectation {
        let claim = "logged as \(reference.rawValue) is"
        let style = DocumentStyle()
        var text = Array(records.compactMap { style.line(for: $0) }.map { $0 + "\n" }.joined().utf8)[...]
        let log = LogReader(name: "the run") { buffer in
            let chunk = text.prefix(buffer.count)
            buffer.copyBytes(from: chunk)
            text = text.dropFirst(chunk.count)
            return chunk.count
        }
        do throws(LogError) {
            switch try LogComparison.compare(LogReader(reference), log) {
            case .same: return Expectation(claim, failure: nil)
            case .different(let difference): return Expectation(claim, failure: difference.description)
            }
        } catch {
            return Expectation(claim, failure: error.description)
        }
    }
}
