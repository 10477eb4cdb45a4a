internal import DistributedNotifications
internal import XCTest

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

    package mutating func add(_ received: RawPeer.Received) throws {
        guard case .frame(let kind, let payload) = received else { return }
        switch kind {
        case .notification:
            let number = try XCTUnwrap(try RawPeer.delivered(payload).number)
            if number <= last { isInOrder = false }
            last = number
            self.received += 1
        case .gap:
            let counted = try RawPeer.gap(payload)
            gap += counted.count
            gaps += 1
        default: break
        }
    }
}
