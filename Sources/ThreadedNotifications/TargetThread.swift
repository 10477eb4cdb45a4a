internal import Foundation

/// The main thread, or whichever thread posts; what `on:` takes besides a `RunLoopThread` and `.current`.
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
    /// The process's first thread. It delivers while it runs its run loop: `RunLoop.main.run()`, or, to end some time,
    /// `while !isOver, RunLoop.main.run(mode: .default, before: .distantFuture) {}`.
    ///
    /// An `async` main function gives the main thread away for ever, so nothing is ever delivered there: write
    /// a synchronous one, start a `Task` in it, and run the run loop.
    public static var main: TargetThread { TargetThread(mailbox: .main) }

    /// Whichever thread posts, before `post` returns: plain delivery, as a Foundation center's. Blocks are performed at
    /// once by the calling thread, after a delay by one in the background.
    public static var postingThread: TargetThread { TargetThread(mailbox: nil) }
}
