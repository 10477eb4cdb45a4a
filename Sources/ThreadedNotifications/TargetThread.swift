/// The thread of any `DeliveryTarget`, or `.postingThread`.
///
///     try TargetThread.main.perform { … }
///     center.addObserver(forName: name, on: .main) { … }
public struct TargetThread: DeliveryTarget {
    /// Nil: the posting thread.
    let mailbox: ThreadMailbox?

    public var targetThread: TargetThread { self }
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
