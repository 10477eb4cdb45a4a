internal import Synchronization
internal import ThreadedNotifications

/// How many bytes wait in this process for the observers' threads, against a limit.
///
/// - Threads: one thread calls `reserve` and `takeRoom`; any thread calls `release`.
final class WaitingBytes: Sendable {
    private let limit: Int
    private let used = Atomic(0)
    /// A reservation was refused, and `takeRoom` has not yet returned true since.
    private let isFull = Atomic(false)
    private let roomEvent: EventDescriptor

    /// - Parameter roomEvent: made ready when half of the limit is free again after a refusal.
    init(limit: Int, roomEvent: EventDescriptor) {
        self.limit = limit
        self.roomEvent = roomEvent
    }

    /// - Returns: false if the limit would be exceeded. A size above the limit is accepted if nothing waits.
    func reserve(_ size: Int) -> Bool {
        let before = used.load(ordering: .relaxed)
        guard before + size <= limit || before == 0 else {
            isFull.store(true, ordering: .sequentiallyConsistent)
            // Releases that ended before the store did not see it.
            if hasRoom { roomEvent.makeReady() }
            return false
        }
        used.add(size, ordering: .relaxed)
        return true
    }

    func release(_ size: Int) {
        used.subtract(size, ordering: .sequentiallyConsistent)
        if isFull.load(ordering: .sequentiallyConsistent), hasRoom { roomEvent.makeReady() }
    }

    /// Whether half of the limit is free again after a refusal. Returns true once for each time that the limit was
    /// reached.
    func takeRoom() -> Bool {
        guard hasRoom else { return false }
        return isFull.exchange(false, ordering: .sequentiallyConsistent)
    }

    private var hasRoom: Bool { used.load(ordering: .sequentiallyConsistent) <= limit / 2 }
}
