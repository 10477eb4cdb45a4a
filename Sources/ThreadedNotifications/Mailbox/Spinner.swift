internal import CLinux

/// Watches for new entries for a short time before the thread sleeps, because waking a thread costs more than watching.
///
/// Threads: the mailbox's own; it is part of `DrainState`.
struct Spinner {
    private var budget = SpinBudget()
    private var looks = 0
    private var usableProcessors = 0

    /// The thread was woken.
    mutating func wasWoken() {
        budget.woken()
    }

    /// The longest time, in nanoseconds, to watch now; nil: the thread should sleep.
    /// - Parameter begin: when the run loop called. After `longestTurn` the run loop's other sources come first.
    func timeLimit(since begin: UInt64, now: UInt64) -> Int? {
        guard now - begin < Self.longestTurn else { return nil }
        return budget.limit
    }

    /// In nanoseconds.
    private static let longestTurn: UInt64 = 1_000_000

    /// Watches until an entry is pending or the time is over.
    /// - Returns: the time it took, at most `limit`. If the thread yields to long-running threads, the budget pays for
    ///   that: sleeping is better then.
    mutating func watch(_ arrivals: borrowing ArrivalFlag, from start: UInt64, for limit: Int) -> Int {
        if sharesProcessor(with: arrivals.lastProcessor) {
            // The posting thread cannot run while this one spins.
            for _ in 0..<2 where !arrivals.isSet { CLinuxYield() }
            return min(Int(SystemThread.monotonicNanoseconds - start), limit)
        }
        while true {
            var isFound = false
            for _ in 0..<50 where !isFound {
                isFound = arrivals.isSet
                CLinuxPause()
            }
            let spent = Int(SystemThread.monotonicNanoseconds - start)
            if isFound || spent >= limit { return min(spent, limit) }
            // Another thread may need this processor.
            CLinuxYield()
        }
    }

    /// Tells the result of `watch`.
    mutating func finish(found: Bool, after spent: Int) {
        if found { budget.found(after: spent) } else { budget.foundNothing(after: spent) }
    }

    /// True if the posting thread runs on this thread's only processor. The number of usable processors is read every
    /// 64th time, because it may change.
    private mutating func sharesProcessor(with other: Int32) -> Bool {
        if looks & 63 == 0 { usableProcessors = Int(CLinuxUsableProcessors()) }
        looks &+= 1
        return usableProcessors == 1 && other == sched_getcpu()
    }
}
