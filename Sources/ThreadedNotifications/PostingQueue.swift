public import Foundation

/// A notification queue: posts what is enqueued on its own thread, at once, as soon as possible or when the run loop is idle, and
/// coalesces what is similar. It keeps what Apple's documents promise of `NSNotificationQueue`; Foundation's on Linux does not.
///
///     let queue = PostingQueue.default
///     queue.enqueue(Notification(name: flushTheServer), postingStyle: .asap)
///
///     enqueue ─► coalesce ─► wait for the style's moment, in one of the modes ─► post to the center
///
/// What happens, by posting style:
/// - `now`: posted before `enqueue` returns, after what is similar was removed from the queue. Nested more than 100 deep in
///   handlers it waits for the next moment, before the stack runs out.
/// - `asap`: posted when the current pass of the run loop ends, before it waits or returns. Other sources, timers and blocks may
///   come first.
/// - `whenIdle`: posted when the run loop waits: no timer due, no source signalled or descriptor of the run loop's ready, nothing
///   in the thread's mailbox or on the main queue, no block pending, and all that is `asap` posted. One at a time, so that the next
///   one waits for what the first gives the run loop to do. A run loop that is about to return does not wait: what is idle stays for
///   the next run. Of blocks given to `RunLoop.perform` CoreFoundation tells nobody: those that wait come first, and those that
///   they perform, but a longer chain of them may be interrupted.
///
/// Threads: a queue belongs to one thread, and posts there and nowhere else; every method may be called on any thread.
/// Enqueued on another, also `now`, a notification waits for the thread, whose run loop is woken. Its object and userInfo are then
/// used, and released, on the queue's thread, so they must be safe there; senders that are values are compared on every thread
/// that enqueues. The thread has to run its run loop. A queue is no input of it: a run loop that has nothing else to wait for posts
/// what waits, and returns; add a `SignalPort` to it, or use a `RunLoopThread`, for what other threads enqueue later. A run whose own
/// input, such as a timer, has expired returns without posting what that enqueued `whenIdle`; the next run posts it.
/// Order: first in, first out within a style, over all queues of a thread. What handlers enqueue `asap` is posted after the
/// batch under way, in the same pass; after 10 batches the run loop's other work comes first.
/// Modes: nil is the default mode; `.common` is all common modes, also those made common later. What waits for another mode
/// than the run loop's is posted when one of its modes is run, `now` too. A thread that runs no run loop counts as in the default
/// mode.
/// Removal: see `dequeueNotifications`. What waits is posted also if nobody holds the queue any more. When the thread ends, it is
/// counted as `targetGone` and traced, and nothing is accepted any more.
/// `RunLoop.run(mode:before:)` returns after it posted what waited, as after other input; not for a `now` that was posted at once.
/// Cost: `enqueue` takes a few look-ups and allocations, however much waits; each idle notification two passes of the run
/// loop, and a descriptor for the thread.
/// Source: "Notification Programming Topics", *Notification Queues*, *Posting Notifications Asynchronously*, *Coalescing
/// Notifications*.
public final class PostingQueue: Sendable {
    /// Which one is kept of those that are similar.
    public enum Kept: Sendable, Hashable {
        /// The one that is enqueued last, at the end of its style.
        case latest
        /// The one that waits longest, where it is, with its posting style and modes.
        case earliest
    }

    private let center: any PostingCenter
    private let mailbox: ThreadMailbox
    private let outcomes: PostingCounters

    /// The current thread's default queue for `NotificationCenter.default`.
    @available(*, noasync, message: "a task has no thread of its own; use init(center:on:)")
    public static var `default`: PostingQueue { `default`(for: NotificationCenter.default) }

    /// The current thread's default queue for a center: always the same as long as there is the center. Nobody need hold it: what
    /// waits in it, and its counts, stay. The thread does not keep the center, unless something waits.
    @available(*, noasync, message: "a task has no thread of its own; use init(center:on:)")
    public static func `default`(for center: some PostingCenter) -> PostingQueue {
        let mailbox = ThreadContext.current.attachedMailboxOrNew(isServed: false)
        return mailbox.postings.poster.defaultQueues.queue(for: center) { counters in
            PostingQueue(center: center, mailbox: mailbox, counters: counters)
        }
    }

    /// A further queue of the current thread.
    @available(*, noasync, message: "a task has no thread of its own; use init(center:on:)")
    public convenience init(center: some PostingCenter) {
        self.init(center: center, on: .postingThread)
    }

    /// A further queue.
    ///
    /// - Parameters:
    ///   - center: to what it posts.
    ///   - thread: whose it is. One that is not started yet may be enqueued to. `.postingThread` is the thread that makes it, so it
    ///     is not for tasks, which have none of their own.
    public init(center: some PostingCenter, on thread: some DeliveryTarget) {
        self.center = center
        mailbox = thread.targetThread.mailbox ?? ThreadContext.current.attachedMailboxOrNew(isServed: false)
        outcomes = PostingCounters()
    }

    private init(center: some PostingCenter, mailbox: ThreadMailbox, counters: PostingCounters) {
        self.center = center
        self.mailbox = mailbox
        outcomes = counters
    }

    /// Adds a notification to the queue, and coalesces those that are similar into one.
    ///
    /// What happens: what waits in this queue, with any posting style, and is similar to the notification is removed, and the
    /// notification is posted in the moment of its style. Senders are compared by identity if they are objects, and by
    /// equality if they are values; no sender is equal to no sender; a value that cannot be compared is equal to none.
    /// - Parameters:
    ///   - notification: what is posted, on the queue's thread.
    ///   - postingStyle: when.
    ///   - coalesceMask: what two have in common that are similar: the name, the sender, or both; none: nothing is similar.
    ///   - kept: which of those that are similar is kept. With `now` it is always this one.
    ///   - modes: in which run loop modes it is posted; nil, or none: the default mode.
    ///   - file: the caller's; errors of waits, recordings and events name it.
    ///   - line: the caller's; errors of waits, recordings and events name it.
    /// - Returns: what became of it, and how many were removed.
    @discardableResult
    public func enqueue(
        _ notification: Notification, postingStyle: NotificationQueue.PostingStyle,
        coalesceMask: NotificationQueue.NotificationCoalescing = [.onName, .onSender], keeping kept: Kept = .latest,
        forModes modes: [RunLoop.Mode]? = nil, file: String = #fileID, line: Int = #line
    ) -> EnqueueReport {
        let item = EnqueuedNotification(
            notification, center: center, counters: outcomes, location: SourceLocation(file, line))
        let modes = modes.flatMap { $0.isEmpty ? nil : Set($0) } ?? Self.defaultModes
        return mailbox.postings.enqueue(
            item, style: postingStyle, mask: coalesceMask, keepsEarliest: kept == .earliest, modes: modes,
            mailbox: mailbox)
    }

    private static let defaultModes: Set<RunLoop.Mode> = [.default]

    /// Removes from the queue what waits, with any posting style and in any mode, and is similar to a notification.
    ///
    /// What is being posted at the moment waits no longer.
    /// - Returns: how many; they are counted as `dequeued`.
    @discardableResult
    public func dequeueNotifications(
        matching notification: Notification,
        coalesceMask: NotificationQueue.NotificationCoalescing = [.onName, .onSender]
    ) -> Int {
        mailbox.postings.dequeue(
            matching: notification, mask: coalesceMask, queue: outcomes.queue, mailbox: mailbox)
    }

    /// What became of all that was enqueued to this queue.
    public var counters: DeliveryCounters { outcomes.counters }
}
