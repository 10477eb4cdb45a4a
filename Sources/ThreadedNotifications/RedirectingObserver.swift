internal import Dispatch
public import Foundation

/// An observer that handles its notifications on one thread, whichever thread posts them: the technique of Apple's
/// document "Delivering Notifications To Particular Threads", with the document's names and in its order.
///
/// A notification center delivers on the posting thread. There this observer tests whether that is the right thread; if
/// not, it stores the notification in an array and signals a port on the right thread's run loop, which processes it.
///
///     let observer = RedirectingObserver { notification in
///         print("current thread = \(ThreadIdentity.current)")
///     }
///     observer.setUpThreadingSupport()
///     let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
///         observer.processNotification($0)
///     }
///
/// Threads: the handler runs on the thread that called `setUpThreadingSupport()`, when that thread runs its run loop in a
/// common mode. Posting on another thread never waits for it.
/// Order: what one thread posts is handled in the order posted. A notification posted on the target thread itself is
/// handled at once, before `post` returns, and overtakes what is waiting.
/// Removal: remove the token from the center; what was redirected before is still handled while the observer lives.
/// When its last reference goes, what waits goes with it, and the port is invalidated soon after, on a background thread.
/// When the target thread has ended, what arrives is held and never handled, and the poster is not told: the document
/// says nothing of it.
/// Cost: a lock, an element of an array and one signal for each redirected notification.
/// Source: the whole document. Where Foundation differs: a block takes the place of the selector, and a `SignalPort` that
/// of the `NSMachPort`; the array is emptied without moving what remains, so that a long queue is not quadratic.
///
/// Limits, as the document states them: "First, all threaded notifications processed by this object must pass through the
/// same method (processNotification:). Second, each object must provide its own implementation and communication port."
public final class RedirectingObserver {
    // MARK: Threaded notification support

    /// Holds the notifications that arrived on wrong threads.
    private var notifications: [Notification] = []
    /// The oldest of them, last first: the part of the array that `handle(_:)` is removing from.
    private var notificationsBeingRemoved: [Notification] = []
    /// The correct thread.
    private var notificationThread: Thread?
    /// Prevents multithreading conflicts with the properties above.
    private let notificationLock = NSLock()
    /// Signals the correct thread.
    private let notificationPort: Port

    private let handler: @Sendable (Notification) -> Void

    /// An observer that redirects nothing before `setUpThreadingSupport()`; what arrives earlier is held.
    ///
    /// - Parameters:
    ///   - notificationPort: a valid port of this observer's own, on no run loop yet, that may be sent to and
    ///     invalidated on any thread.
    ///   - handler: what the document marks "Process the notification here".
    public init(
        notificationPort: sending Port = SignalPort(), handler: @escaping @Sendable (Notification) -> Void
    ) {
        self.notificationPort = notificationPort
        self.handler = handler
    }

    deinit {
        // The run loop retains the port until it is invalidated; the document leaves this out. Not here, where the caller
        // may be a center that holds its lock while it lets go of this observer, and invalidating posts.
        // Safety: nobody else has the port any more but its run loop, and it may be invalidated on any thread.
        nonisolated(unsafe) let port = notificationPort
        DispatchQueue.global().async { port.invalidate() }
    }

    /// Makes the current thread the one on which notifications are processed. Later calls, on any thread, do nothing.
    public func setUpThreadingSupport() {
        notificationLock.lock()
        if notificationThread != nil {
            notificationLock.unlock()
            return
        }
        // Retained, so that no later thread can be taken for it: addresses of threads are reused.
        notificationThread = Thread.current
        notificationLock.unlock()

        notificationPort.setDelegate(self)
        RunLoop.current.add(notificationPort, forMode: .common)
    }

    /// Processes the notification if this is the correct thread, else forwards it there.
    ///
    /// Register this method with a notification center; it may be called on any thread.
    public func processNotification(_ notification: Notification) {
        notificationLock.lock()
        if Thread.current !== notificationThread {
            // Forward the notification to the correct thread.
            notifications.append(notification)
            notificationLock.unlock()
            _ = notificationPort.send(before: Date(), components: nil, from: nil, reserved: 0)
        } else {
            notificationLock.unlock()
            handler(notification)
        }
    }
}

extension RedirectingObserver: PortDelegate {
    /// The document's `handleMachMessage:`, called on the correct thread when the port was signalled. The message says
    /// nothing: "Because port messages may get dropped if too many are sent simultaneously", the array is
    /// processed until it is empty.
    public func handle(_ message: PortMessage) {
        notificationLock.lock()
        while let notification = removeFirstNotification() {
            notificationLock.unlock()
            processNotification(notification)
            notificationLock.lock()
        }
        notificationLock.unlock()
    }

    /// Called with the lock held.
    private func removeFirstNotification() -> Notification? {
        if notificationsBeingRemoved.isEmpty {
            notificationsBeingRemoved = notifications.reversed()
            notifications.removeAll(keepingCapacity: true)
        }
        return notificationsBeingRemoved.popLast()
    }
}

// Safety: the two arrays and the thread are only touched with the lock held; the port and the handler are set once, the
// handler is Sendable, and what is done with the port on other threads is what the initializer asks of it.
extension RedirectingObserver: @unchecked Sendable {}
