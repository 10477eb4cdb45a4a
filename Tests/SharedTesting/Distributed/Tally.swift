internal import DistributedNotifications

/// Counts received notifications and gaps, and checks their order.
package struct Tally: Equatable {
    package var received = 0
    package var gap = 0
    package var gaps = 0
    /// True if each number was larger than the one before.
    package var isInOrder = true
    package var last = -1

    package init() {}

    /// What is seen of posts that are numbered from 0, if all arrive in order.
    package init(all count: Int) { (received, last) = (count, count - 1) }

    package mutating func see(_ number: Int) {
        if number <= last { isInOrder = false }
        last = number
        received += 1
    }

    package mutating func seeGap(_ count: Int) {
        gap += count
        if count > 0 { gaps += 1 }
    }

    package mutating func see(_ frames: [RawPeer.Received]) throws {
        for case .frame(let kind, let payload) in frames {
            if kind == .notification { see(try RawPeer.delivered(payload).number) }
            if kind == .gap { seeGap(try RawPeer.gap(payload).count) }
        }
    }
}
