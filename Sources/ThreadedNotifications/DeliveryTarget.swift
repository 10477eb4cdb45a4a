/// A thread on which notifications are handled and blocks are performed: a `RunLoopThread`, `.main`, `.current` or
/// `.postingThread`.
///
///     center.addObserver(forName: name, on: .main) { … }
///     try worker.perform { … }
///
/// Only types of this package may conform to it.
/// Source: "Performing a block of code on a given thread".
public protocol DeliveryTarget: Sendable {
    /// The thread.
    var targetThread: TargetThread { get }
}

/// The thread of any `DeliveryTarget`, or `.postingThread`.
public struct TargetThread: DeliveryTarget {
    /// Nil: the posting thread.
    let mailbox: Mailbox?

    public var targetThread: TargetThread { self }
}

/// The thread on which `.current` was evaluated.
public struct CurrentThread: DeliveryTarget {
    public let targetThread: TargetThread
}

extension DeliveryTarget where Self == TargetThread {
    /// The thread that posts: handlers are called before `post` returns, as by a Foundation center. Blocks are
    /// performed at once on the calling thread, delayed blocks on a thread of Dispatch: of many that are due, some wait
    /// for the others.
    public static var postingThread: TargetThread { TargetThread(mailbox: nil) }
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
