/// The thread on which `.current` was evaluated.
public struct CurrentThread: DeliveryTarget {
    public let targetThread: TargetThread
}

extension DeliveryTarget where Self == CurrentThread {
    /// The calling thread. It delivers while it runs its run loop, which has something to wait for from now on. If the
    /// thread does not run its run loop, what is posted waits until the thread ends, and then has the outcome
    /// `targetGone`.
    public static var current: CurrentThread {
        ThreadContext.withCurrent { context in
            context.attach()
            return CurrentThread(targetThread: TargetThread(mailbox: context.mailbox))
        }
    }
}
