internal import ThreadedNotifications

/// Lost notifications that no gap has reported yet.
struct LostNotifications {
    private(set) var count = 0
    /// How many each observer lost, by its token's id.
    private(set) var observers: [UInt64: Int] = [:]

    var isEmpty: Bool { count == 0 }

    mutating func add(for handles: [ValueObservers.Handle]) {
        count += 1
        for handle in handles { observers[handle.id, default: 0] += 1 }
    }

    /// - Returns: the gap; nil if nothing was lost.
    mutating func take(cause: NotificationGap.Cause) -> NotificationGap? {
        guard !isEmpty else { return nil }
        defer { self = LostNotifications() }
        return NotificationGap(count: count, cause: cause, observers: observers)
    }
}
