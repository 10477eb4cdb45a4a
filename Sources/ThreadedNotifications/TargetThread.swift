internal import Dispatch

/// The thread of any `DeliveryTarget`, or `.postingThread`.
///
///     try TargetThread.main.perform { … }
///     center.addObserver(forName: name, on: .main) { … }
public struct TargetThread: DeliveryTarget {
    /// Nil: the posting thread.
    let mailbox: ThreadMailbox?

    public var targetThread: TargetThread { self }

    /// Performs a block on a new thread, which has no name and ends afterwards. If the system has no thread left, a
    /// thread of Dispatch performs it.
    public static func performInBackground(_ block: @escaping @Sendable () -> Void) {
        switch SystemThread.start(block) {
        case .success(let thread): thread.detach()
        case .failure: DispatchQueue.global().async(execute: block)
        }
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
    /// performed at once on the calling thread, delayed blocks on a thread of Dispatch: of many that are due, some wait
    /// for the others.
    public static var postingThread: TargetThread { TargetThread(mailbox: nil) }
}
