@testable import DistributedNotifications
@testable import NotificationServer

/// The frames for a client, in a form that can be compared.
struct SuspensionOutcome: Hashable, CustomStringConvertible {
    struct Delivery: Hashable {
        var post: Int
        var registrations: [UInt32]
    }

    /// How many posts were discarded, and for each registration how many; nil: no gap is shown.
    var gap: Int?
    var gaps: [UInt32: Int] = [:]
    var deliveries: [Delivery] = []

    var description: String {
        let shown = gap.map { "gap \($0) \(gaps.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }) " } ?? ""
        return shown + "\(deliveries.map { "\($0.post)→\($0.registrations)" })"
    }
}

extension SuspensionOutcome {
    init(_ flush: SuspensionBuffer<TestPost>.Flush) {
        gap = flush.gap?.count
        gaps = flush.gap?.registrations ?? [:]
        deliveries = flush.entries.map {
            Delivery(post: $0.post.number, registrations: $0.observers.map(\.registration))
        }
    }

    init(_ arrival: SuspensionBuffer<TestPost>.Decision, of post: Int) {
        self.init(arrival.flush)
        guard !arrival.observers.isEmpty else { return }
        deliveries.append(Delivery(post: post, registrations: arrival.observers.map(\.registration)))
    }
}
