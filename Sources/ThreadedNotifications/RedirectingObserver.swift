internal import Dispatch
public import Foundation

/// An observer that handles its notifications on one thread: the technique of Apple's document "Delivering
/// Notifications To Particular Threads", with the document's names and in its order.
///
/// A notification center delivers on the posting thread. There this observer tests whether that is the correct thread.
/// If not, it stores the notification in an array and signals a port on the correct thread's run loop, which processes
/// it.
///
///     let observer = RedirectingObserver { notification in
///         print("current thread = \(ThreadIdentity.current)")
///     }
///     observer.setUpThreadingSupport()
///     let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
///         observer.processNotification($0)
///     }
///
/// Threads: the handler runs on the thread that called `setUpThreadingSupport()`, when that thread runs its run loop in
/// a common mode. Posting on another thread never waits for it.
/// Order: notifications of one posting thread are handled in the order in which they were posted. A notification that
/// is posted on the correct thread is handled before `post` returns, and overtakes those that wait.
/// Removal: remove the token from the center. Notifications that were redirected before are still handled while the
/// observer exists. When the observer is deallocated, waiting notifications are discarded, and a background thread
/// invalidates the port. When the correct thread has ended, notifications are stored and never handled; the document
/// does not cover this case.
/// Cost: a lock, an element of an array and one signal for each redirected notification.
/// Source: the whole document. It differs where Foundation on Linux does: a block replaces the selector, and a
/// `SignalPort` the `NSMachPort`. The first element is removed from the array without moving the others, which would be
/// quadratic.
///
/// Limitations, as the document states them: "First, all threaded notifications processed by this object must pass
/// through the same method (processNotification:). Second, each object must provide its own implementation and
/// communication port."
public final class RedirectingObserver {
    // MARK: Threaded notification support

    /// The notifications that arrived on other threads.
    private var notifications: [Notification] = []
    /// The oldest of them in reverse order. `handle(_:)` removes them from the end.
    private var notificationsBeingRemoved: [Notification] = []
    /// The correct thread.
    private var notificationThread: Thread?
    /// Prevents multithreading conflicts with the properties above.
    private let notificationLock = NSLock()
    /// Signals the correct thread.
    private let notificationPort: any Port & Sendable

    private let handler: @Sendable (Notification) -> Void

    /// Makes an observer that stores its notifications until `setUpThreadingSupport()` is called.
    /// - Parameters:
    ///   - notificationPort: a valid port that is on no run loop and has no other user.
    ///   - handler: the code that the document marks "Process the notification here".
    public init(
        notificationPort: any Port & Sendable = SignalPort(), handler: @escaping @Sendable (Notification) -> Void
    ) {
        (self.notificationPort, self.handler) = (notificationPort, handler)
    }

    deinit {
        // The run loop retains the port until it is invalidated, which the document omits. Invalidating posts a
        // notification, so it is not done here: the observer may be released by a center that holds its lock.
        DispatchQueue.global().async { [notificationPort] in notificationPort.invalidate() }
    }

    /// Makes the current thread the one on which notifications are processed. Later calls, on any thread, do nothing.
    public func setUpThreadingSupport() {
        let isFirst = notificationLock.withLock {
            // Retained, because the address of a thread that has ended is reused by a later one.
            defer { notificationThread = notificationThread ?? Thread.current }
            return notificationThread == nil
        }
        guard isFirst else { return }
        notificationPort.setDelegate(self)
        RunLoop.current.add(notificationPort, forMode: .common)
    }

    /// Processes the notification on the correct thread; on any other, forwards it there. Register a call of this
    /// method with a notification center.
    public func processNotification(_ notification: Notification) {
        notificationLock.lock()
        if Thread.current !== notificationThread {
            // Forward the notification to the correct thread. Its object may be lost: see `Notification.kept`.
            let kept = notification.kept
            notifications.append(kept)
            notificationLock.unlock()
            if kept.object == nil { notification.warnOfLostObject(at: SourceLocation("", 0)) }
            _ = notificationPort.send(before: Date(), components: nil, from: nil, reserved: 0)
        } else {
            notificationLock.unlock()
            handler(notification)
        }
    }
}

extension RedirectingObserver: PortDelegate {
    /// The document's `handleMachMessage:`, called on the correct thread after a signal. The message has no content:
    /// "Because port messages may get dropped if too many are sent simultaneously", the array is processed until it is
    /// empty.
    public func handle(_ message: PortMessage) {
        while let notification = removeFirstNotification() { processNotification(notification) }
    }

    private func removeFirstNotification() -> Notification? {
        notificationLock.withLock {
            if notificationsBeingRemoved.isEmpty {
                notificationsBeingRemoved = notifications.reversed()
                notifications.removeAll(keepingCapacity: true)
            }
            return notificationsBeingRemoved.popLast()
        }
    }
}

// Safety: the two arrays and the thread are accessed only with the lock held. The port and the handler are set once,
// and both are Sendable.
extension RedirectingObserver: @unchecked Sendable {}
