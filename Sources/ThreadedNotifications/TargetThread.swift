internal import Foundation

/// A thread that is neither a `RunLoopThread` nor `.current`: `.main`, or `.postingThread`.
///
///     try TargetThread.main.perform { … }
///     center.addObserver(forName: name, on: .main) { … }
public struct TargetThread: DeliveryTarget {
    /// Nil: the posting thread.
    let mailbox: ThreadMailbox?

    public var targetThread: TargetThread { self }

    /// Performs a block on a new thread, which has no name and ends afterwards.
    public static func performInBackground(_ block: @escaping @Sendable () -> Void) {
        Thread.detachNewThread(block)
    }
}

extension DeliveryTarget where Self == TargetThread {
    /// The main thread. It delivers while it runs its run loop: `RunLoop.main.run()`, or, to end at some time,
    /// `while !isOver, RunLoop.main.run(mode: .default, before: .distantFuture) {}`.
    ///
    /// If the main function is `async` or calls `dispatchMain()`, the main thread ends before the program, and nothing is
    /// delivered there: later notifications are `targetGone`, and the first that is lost causes a warning on standard
    /// error. Write a synchronous main function that starts a `Task` and runs the run loop. A test of Swift Testing
    /// observes on a `RunLoopThread` instead. `THREADED_NOTIFICATIONS_WARNINGS=0` in the environment disables the
    /// warning.
    public static var main: TargetThread { TargetThread(mailbox: .main) }

    /// The thread that posts: handlers are called before `post` returns, as by a Foundation center. Blocks are
    /// performed at once on the calling thread, delayed blocks on a background thread.
    public static var postingThread: TargetThread { TargetThread(mailbox: nil) }
}
