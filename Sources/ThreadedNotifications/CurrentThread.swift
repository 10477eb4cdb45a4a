/// The thread on which `.current` was evaluated.
public struct CurrentThread: DeliveryTarget {
    public let targetThread: TargetThread
}

extension DeliveryTarget where Self == CurrentThread {
    /// The thread that evaluates this. It delivers while it runs its run loop, which then has something to wait for until
    /// the thread ends; on a thread that runs none, what is posted waits until the thread ends, and has then lost its target.
    public static var current: CurrentThread {
        CurrentThread(targetThread: TargetThread(mailbox: ThreadContext.current.attachedMailboxOrNew()))
    }
}
