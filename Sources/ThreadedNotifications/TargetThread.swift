/// The thread of any `DeliveryTarget`, or `.postingThread`.
public struct TargetThread: DeliveryTarget {
    /// Nil: the posting thread.
    let mailbox: Mailbox?

    public var targetThread: TargetThread { self }
}

extension DeliveryTarget where Self == TargetThread {
    /// The thread that posts: handlers are called before `post` returns, as by a Foundation center. Blocks are
    /// performed at once on the calling thread, delayed blocks on a thread of Dispatch: of many that are due, some wait
    /// for the others.
    public static var postingThread: TargetThread { TargetThread(mailbox: nil) }
}
