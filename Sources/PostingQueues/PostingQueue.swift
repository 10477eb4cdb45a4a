public import Foundation
public import ThreadedNotifications

/// A notification queue: it posts notifications on its own thread, at once, as soon as possible or when the run loop is
/// idle, and coalesces similar ones. It keeps the promises of `NSNotificationQueue` in Apple's documents; Foundation's
/// queue on Linux does not.
///
///     let queue = PostingQueue.default
///     queue.enqueue(Notification(name: flushTheServer), postingStyle: .asap)
///
///     enqueue ─► coalesce ─► wait for the posting style, in one of the modes ─► post to the center
///
/// Posting styles:
/// - `now`: the notification is posted before `enqueue` returns, after similar ones were removed from the queue. While
///   the run loop runs in another mode than the notification's, it waits for its mode. If it is nested more than 100
///   deep in handlers, it is posted later, so that the stack does not overflow.
/// - `asap`: it is posted when the current pass of the run loop ends, before the run loop waits or returns. Other
///   sources, timers and blocks may come first.
/// - `whenIdle`: it is posted when the run loop waits: no timer is due, no source is signalled, no descriptor of the
///   run loop is ready, the thread's mailbox and the main queue are empty, no block is pending, and no `asap`
///   notification waits. One is posted at a time, and the next after the run loop has done the work that the first
///   caused. A run that polls, or that returns after an input, does not wait: its idle notifications stay for the next.
///   CoreFoundation does not report blocks given to `RunLoop.perform`: waiting blocks, and the blocks that these
///   perform, come first, but a longer chain may be interrupted.
///
/// Threads: a queue belongs to one thread and posts only there. Every method may be called on any thread. A
/// notification that another thread enqueues, also with `now`, waits until the queue's thread runs its run loop, which
/// is woken. Its object and userInfo are used and released on the queue's thread, so they must be safe there. Senders
/// that are values are compared on each thread that enqueues. A queue does not keep a run loop running: a run loop with
/// no source posts the waiting notifications and returns. For notifications that other threads enqueue later, add a
/// `SignalPort` to it or use a `RunLoopThread`.
/// Order: first in, first out within a posting style, over all queues of a thread. `asap` notifications that handlers
/// enqueue are posted after the current batch, in the same pass. After 10 batches the run loop does its other work
/// first.
/// Modes: nil is the default mode; `.common` is all common modes, also those that become common later. A notification
/// for other modes than the current one is posted when one of its modes runs, also with `now`. A run loop that is not
/// running counts as running in the default mode. With `now` the modes do not matter then: the notification is posted
/// before `enqueue` returns, after earlier `now` ones with the same modes.
/// Removal: see `dequeueNotifications`. Waiting notifications are posted also after the queue was released. When the
/// thread ends, they are counted and traced as `targetGone`, and the queue accepts no further ones.
/// `RunLoop.run(mode:before:)` returns after waiting notifications were posted, as after other input. It does not
/// return for a `now` that was posted before `enqueue` returned.
/// Cost: `enqueue` takes a few look-ups and allocations, independent of the number that waits. Each idle notification
/// takes two passes of the run loop, and its thread needs a descriptor; without one it waits until there is one.
/// Source: "Notification Programming Topics", *Notification Queues*, *Posting Notifications Asynchronously*,
/// *Coalescing Notifications*.
public final class PostingQueue: Sendable {
    /// The one of several similar notifications that is kept.
    public enum Kept: Sendable, Hashable {
        /// The one that was enqueued last, at the end of its posting style.
        case latest
        /// The one that has waited longest, where it is, with its posting style and modes.
        case earliest
    }

    private let center: any PostingCenter
    private let postings: ThreadPostings
    private let outcomes = PostingCounters()

    /// The current thread's default queue for `NotificationCenter.default`.
    @available(*, noasync, message: "a task has no thread of its own; use init(center:on:)")
    public static var `default`: PostingQueue { `default`(for: NotificationCenter.default) }

    /// The current thread's default queue for a center.
    ///
    /// It is always the same queue. The thread retains it, and so the center, until it ends.
    @available(*, noasync, message: "a task has no thread of its own; use init(center:on:)")
    public static func `default`(for center: some PostingCenter) -> PostingQueue {
        let id = ObjectIdentifier(center)
        let poster = ServedThread.current(isServed: false).service(ThreadPostings.self).poster
        if let known = poster.defaultQueues[id] { return known }
        let queue = PostingQueue(center: center)
        poster.defaultQueues[id] = queue
        return queue
    }

    /// A further queue of the current thread.
    @available(*, noasync, message: "a task has no thread of its own; use init(center:on:)")
    public convenience init(center: some PostingCenter) {
        self.init(center: center, on: .postingThread)
    }

    /// A further queue.
    ///
    /// - Parameters:
    ///   - center: the center to post to.
    ///   - thread: the queue's thread, which need not be started yet. `.postingThread` is the thread that makes the
    ///     queue; do not use it in a task, which has no thread of its own.
    public init(center: some PostingCenter, on thread: some DeliveryTarget) {
        self.center = center
        postings = ServedThread(of: thread).service(ThreadPostings.self)
    }

    /// Adds a notification to the queue, and coalesces those that are similar into one.
    ///
    /// Similar notifications in this queue, with any posting style, are removed. Senders are compared by identity if
    /// they are objects, and by equality if they are values. No sender equals no sender. A value that cannot be
    /// compared equals nothing. An object whose `deinit` enqueues it is lost, as with
    /// `ThreadedNotificationCenter.post(_:file:line:)`: the notification has no sender.
    /// - Parameters:
    ///   - notification: the notification to post on the queue's thread.
    ///   - postingStyle: when to post it.
    ///   - coalesceMask: the properties that similar notifications have in common: the name, the sender, or both. If it
    ///     is empty, none is similar.
    ///   - kept: the similar notification that is kept. With `now` it is always this one.
    ///   - modes: the run loop modes in which it is posted. Nil or none: the default mode.
    ///   - file: the caller's file, for errors of waits, recordings and events.
    ///   - line: the caller's line, for errors of waits, recordings and events.
    /// - Returns: the outcome when `enqueue` returns, and how many were removed.
    @discardableResult
    public func enqueue(
        _ notification: Notification, postingStyle: NotificationQueue.PostingStyle,
        coalesceMask: NotificationQueue.NotificationCoalescing = [.onName, .onSender], keeping kept: Kept = .latest,
        forModes modes: [RunLoop.Mode]? = nil, file: String = #fileID, line: Int = #line
    ) -> EnqueueReport {
        let location = SourceLocation(file, line)
        let item = EnqueuedNotification(
            notification.kept(at: location), center: center, counters: outcomes, location: location)
        let modes = modes.flatMap { $0.isEmpty ? nil : Set($0) } ?? Self.defaultModes
        return postings.enqueue(
            item, style: postingStyle, mask: coalesceMask, keepsEarliest: kept == .earliest, modes: modes)
    }

    private static let defaultModes: Set<RunLoop.Mode> = [.default]

    /// Removes from the queue the notifications that are similar to one, with any posting style and in any mode.
    ///
    /// A notification that is being posted is no longer in the queue.
    /// - Returns: how many. They are counted as `cancelled`.
    @discardableResult
    public func dequeueNotifications(
        matching notification: Notification,
        coalesceMask: NotificationQueue.NotificationCoalescing = [.onName, .onSender]
    ) -> Int {
        postings.dequeue(matching: notification, mask: coalesceMask, queue: outcomes.queue)
    }

    /// The outcomes of all notifications that were enqueued to this queue.
    public var counters: DeliveryCounters { outcomes.counters }
}
