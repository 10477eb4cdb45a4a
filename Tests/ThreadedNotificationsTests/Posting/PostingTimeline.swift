import Foundation

@testable import ThreadedNotifications

/// What happens, in order: what queues post to it, and what a test notes in between.
final class PostingTimeline: PostingCenter {
    private struct State {
        var entries: [String] = []
        var actions: [String: @Sendable (Notification) -> Void] = [:]
    }

    private let state = Locked(State())

    /// The names of what was posted, and the notes.
    var entries: [String] { state.withLock { $0.entries } }

    func note(_ what: String) {
        state.withLock { $0.entries.append(what) }
    }

    /// Does this whenever a notification of the name is posted, after noting it.
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

    /// Begins anew; what is done when something is posted stays.
    func forget() {
        state.withLock { $0.entries = [] }
    }

    /// Notes everything that is posted to another center.
    func observe(_ center: NotificationCenter) {
        _ = center.addObserver(forName: nil, object: nil, queue: nil) { self.note($0.name.rawValue) }
    }

    func has(_ what: String) -> Bool { entries.contains(what) }

    func count(_ what: String) -> Int { entries.count { $0 == what } }
}

extension PostingQueue {
    /// Enqueues a notification of this name; nothing is similar to it unless that is said.
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

/// Does this on the main thread, and then on another.
/// - Parameter hasInput: whether the other's run loop has something to wait for in the default mode, as the main one has. What
///   other input enqueues when idle keeps no run loop from returning.
func onMainAndAnotherThread(hasInput: Bool = false, _ body: @escaping @Sendable () -> Void) {
    precondition(Thread.isMainThread)
    body()
    Thread.posting(1) {
        let port = SignalPort()
        if hasInput { RunLoop.current.add(port, forMode: .default) }
        body()
        port.invalidate()
    }.wait()
}
