internal import Synchronization
internal import ThreadedNotifications

/// A notification on its way from the reader to the observers' threads. It counts as waiting until the last of them had it,
/// or does without.
final class Arrival: Sendable {
    let notification: DistributedNotification
    private let size: Int
    private let waiting: WaitingBytes

    /// - Parameter size: taken from `waiting` before.
    init(_ notification: DistributedNotification, size: Int, of waiting: WaitingBytes) {
        self.notification = notification
        self.size = size
        self.waiting = waiting
    }

    deinit {
        waiting.giveBack(size)
    }

    /// What it counts as: its bytes on the wire, 64 for each value of its userInfo, and 256 for what carries it.
    static func size(bytes: Int, values: Int) -> Int { bytes + 64 * values + 256 }
}

/// How much waits in this process for the observers' threads, and whether more may.
final class WaitingBytes: Sendable {
    private let limit: Int
    private let used = Atomic(0)
    private let isFull = Atomic(false)
    private let thereIsRoom: EventDescriptor

    /// - Parameter thereIsRoom: made ready when half of the limit is free again, after something did not fit.
    init(limit: Int, thereIsRoom: EventDescriptor) {
        self.limit = limit
        self.thereIsRoom = thereIsRoom
    }

    /// - Returns: false if so much does not fit. What is larger than the limit fits if nothing waits.
    func take(_ size: Int) -> Bool {
        let before = used.load(ordering: .relaxed)
        guard before + size <= limit || before == 0 else {
            isFull.store(true, ordering: .sequentiallyConsistent)
            // All may have been given back before that was to be seen.
            if hasRoom { thereIsRoom.makeReady() }
            return false
        }
        // The reader alone takes.
        used.add(size, ordering: .relaxed)
        return true
    }

    func giveBack(_ size: Int) {
        used.subtract(size, ordering: .sequentiallyConsistent)
        if isFull.load(ordering: .sequentiallyConsistent), hasRoom { thereIsRoom.makeReady() }
    }

    /// Whether something did not fit, and now half of the limit is free; says so once.
    func takeRoom() -> Bool {
        guard hasRoom else { return false }
        return isFull.exchange(false, ordering: .sequentiallyConsistent)
    }

    private var hasRoom: Bool { used.load(ordering: .sequentiallyConsistent) <= limit / 2 }
}
