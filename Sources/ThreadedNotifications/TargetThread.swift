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
    /// In a program with an `async` main function the main thread never runs its run loop, so nothing is delivered
    /// there. Write a synchronous main function that starts a `Task` and runs the run loop.
    public static var main: TargetThread { TargetThread(mailbox: .main) }

    /// The thread that posts: handlers are called before `post` returns, as by a Foundation center. Blocks are
    /// performed at once on the calling thread, delayed blocks on a background thread.
    public static var postingThread: TargetThread { TargetThread(mailbox: nil) }
}
