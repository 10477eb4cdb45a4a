import Foundation
import SharedTesting

@testable import PostingQueues
@testable import ThreadedNotifications

/// A center that logs the names of posted notifications, together with notes of the test, in order.
final class PostingTimeline: PostingCenter {
    private struct State {
        var entries: [String] = []
        var actions: [String: @Sendable (Notification) -> Void] = [:]
    }

    private let state = Locked(State())

    /// The names of posted notifications, and the notes.
    var entries: [String] { state.withLock { $0.entries } }

    func note(_ what: String) {
        state.withLock { $0.entries.append(what) }
    }

    /// Calls a block whenever a notification of the name is posted, after logging it.
    func when(_ name: String, _ action: @escaping @Sendable () -> Void) {
        when(name) { _ in action() }
    }

    func when(_ name: String, _ action: @escaping @Sendable (Notification) -> Void) {
        state.withLock { $0.actions[name] = action }
    }

    func post(_ queued: QueuedNotification) {
        let name = queued.notification.name.rawValue
        let action = state.withLock { state in
            state.entries.append(name)
            return state.actions[name]
        }
        action?(queued.notification)
    }

    func has(_ what: String) -> Bool { entries.contains(what) }

    func count(_ what: String) -> Int { entries.count { $0 == what } }
}

extension PostingQueue {
    /// Enqueues a notification of this name. Without a mask it is similar to none.
    @discardableResult
    func put(
        _ name: String, _ style: NotificationQueue.PostingStyle, from sender: Any? = nil,
        on mask: NotificationQueue.NotificationCoalescing = [], keeping kept: Kept = .latest,
        in modes: [RunLoop.Mode]? = nil
    ) -> EnqueueReport {
        enqueue(
            Notification(name: Notification.Name(name), object: sender), postingStyle: style, coalesceMask: mask,
            keeping: kept, forModes: modes)
    }

    func dequeue(_ name: String, from sender: Any? = nil, on mask: NotificationQueue.NotificationCoalescing) -> Int {
        dequeueNotifications(matching: Notification(name: Notification.Name(name), object: sender), coalesceMask: mask)
    }
}

extension NotificationQueue.PostingStyle {
    static let all: [(style: Self, name: String)] = [(.now, "now"), (.asap, "asap"), (.whenIdle, "idle")]
}

/// Runs a body on the main thread, and then on another, whose run loop has an input, as the main run loop has.
func onMainAndAnotherThread(_ body: @escaping @Sendable () -> Void) {
    precondition(Thread.isMainThread)
    body()
    Thread.posting(1) {
        let port = SignalPort()
        for mode in [RunLoop.Mode.default.rawValue, "own", "A", "B"].map({ RunLoop.Mode($0) }) {
            RunLoop.current.add(port, forMode: mode)
        }
        body()
        port.invalidate()
    }.wait()
}
