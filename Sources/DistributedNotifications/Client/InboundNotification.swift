/// A notification on its way from the reader to the observers' threads. It counts as waiting until the last observer
/// has handled it or was removed.
final class InboundNotification: Sendable {
    let notification: DistributedNotification
    private let size: Int
    private let waiting: WaitingBytes

    /// - Parameter size: was reserved in `waiting`.
    init(_ notification: DistributedNotification, size: Int, of waiting: WaitingBytes) {
        self.notification = notification
        self.size = size
        self.waiting = waiting
    }

    deinit {
        waiting.release(size)
    }

    /// The size for which a notification counts: its bytes on the wire, 64 for each value of its userInfo, and 256.
    static func size(bytes: Int, values: Int) -> Int { bytes + 64 * values + 256 }
}

/// A connection event on its way to the observers' threads.
final class InboundEvent: Sendable {
    let event: ConnectionEvent
    private let waiting: WaitingBytes?

    /// The size for which an event counts.
    static let size = 512

    /// - Parameter waiting: where `size` was reserved; nil for a rare event, which does not count.
    init(_ event: ConnectionEvent, of waiting: WaitingBytes?) {
        self.event = event
        self.waiting = waiting
    }

    deinit {
        waiting?.release(Self.size)
    }
}
