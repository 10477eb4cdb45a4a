internal import Foundation

/// The thread of any `DeliveryTarget`, or `.postingThread`.
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

extension TargetThread {
    /// The main thread; see `MainThread`.
    public static var main: MainThread { MainThread() }
}

extension DeliveryTarget where Self == TargetThread {
    /// The main thread, where a `TargetThread` is needed.
    @_disfavoredOverload
    public static var main: TargetThread { MainThread().targetThread }

    /// The thread that posts: handlers are called before `post` returns, as by a Foundation center. Blocks are
    /// performed at once on the calling thread, delayed blocks on a background thread.
    public static var postingThread: TargetThread { TargetThread(mailbox: nil) }
}
