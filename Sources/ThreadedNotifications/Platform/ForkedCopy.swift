internal import CLinux
internal import Synchronization

/// A process that `fork` has copied. It has only the thread that forked; every other thread has ended there (guarantee
/// 10): their mailboxes accept nothing more.
///
/// A lock that another thread held at the fork stays locked in the copy, and its run loop has the descriptors of the
/// parent's, as with Foundation. So a copy may post, and should then end or execute a program.
package enum ForkedCopy {
    /// True in a process that was copied from a parent that used this package.
    package static var isCopy: Bool {
        _ = isWatching
        return generation != 0
    }

    /// The number of forks since the first process that used this package.
    static var generation: Int { forks.load(ordering: .relaxed) }

    /// From the first use on, forks are counted.
    static let isWatching: Void = {
        // The thread that forks gets its context before: later, the only thread of a copy is taken for the main thread.
        _ = pthread_atfork({ _ = ThreadContext.current }, nil) {
            let generation = forks.add(1, ordering: .relaxed).newValue
            ThreadContext.existing?.threadWasCopied(generation)
        }
    }()
}

private let forks = Atomic<Int>(0)
