internal import Foundation
internal import ThreadedNotifications

/// The records of a run, looked at post by post, and what a scenario may expect of them.
struct Deliveries {
    /// A post and its one delivery.
    struct Delivery {
        var posted: DeliveryRecord
        var delivered: DeliveryRecord
    }

    let records: [DeliveryRecord]
    /// The places of the records of a post, and of those that register. Places and not copies: a flood has millions.
    private var posts: [Int] = []
    private var registrations: [Int] = []
    /// The places of a post and its delivery, in the order in which they were delivered.
    private var pairs: [(post: Int, delivery: Int)] = []
    private var undelivered: [Int] = []
    private var deliveredAgain: [Int] = []
    private var deliveredUnposted: [Int] = []

    init(_ records: [DeliveryRecord]) {
        self.records = records
        var placeOfPost: [Int?: Int] = [:]
        var deliveredPosts: Set<Int?> = []
        for (place, record) in records.enumerated() {
            switch record.stage {
            case .register:
                registrations.append(place)
            case .post:
                posts.append(place)
                placeOfPost[record.post] = place
            case .deliver:
                guard let post = placeOfPost[record.post] else {
                    deliveredUnposted.append(place)
                    continue
                }
                if deliveredPosts.insert(record.post).inserted {
                    pairs.append((post, place))
                } else {
                    deliveredAgain.append(place)
                }
            case .capture, .signal, .dropSignal, .drain, .log, .processStart, .processEnd:
                break
            }
        }
        if pairs.count < posts.count {
            undelivered = posts.filter { !deliveredPosts.contains(records[$0].post) }
        }
    }

    var posted: some RandomAccessCollection<DeliveryRecord> { posts.lazy.map { records[$0] } }

    var registered: some RandomAccessCollection<DeliveryRecord> { registrations.lazy.map { records[$0] } }

    private var deliveries: some RandomAccessCollection<Delivery> {
        pairs.lazy.map { Delivery(posted: records[$0.post], delivered: records[$0.delivery]) }
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
                claim,
                failure: "\(undelivered.count) of \(posts.count) posts were not delivered, the first of them post "
                    + records[lost].postNumber)
        }
        if let again = deliveredAgain.first {
            return Expectation(claim, failure: "post \(records[again].postNumber) was delivered more than once")
        }
        if let unposted = deliveredUnposted.first {
            return Expectation(
                claim, failure: "post \(records[unposted].postNumber) was delivered before it was posted")
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
                    failure:
                        "post \(delivery.posted.postNumber) of \(delivery.posted.thread) was handled after its post "
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
    /// That what the records log has the structure of a document's log.
    static func matches(_ reference: ReferenceLog, _ records: [DeliveryRecord]) -> Expectation {
        let claim = "logged as \(reference.rawValue) is"
        let style = DocumentStyle()
        let text = records.compactMap { style.line(for: $0) }.map { $0 + "\n" }.joined()
        let log = LogReader(name: "the run", bytes: Array(text.utf8))
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
