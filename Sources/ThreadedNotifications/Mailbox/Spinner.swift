internal import CLinux
internal import Synchronization

/// How a thread of this package looks for more when it has delivered all, before it sleeps. All of it is called on the target
/// thread.
///
///     delivering ──all delivered──► looking ──something is pending──► delivering
///                                      └──the limit has passed──► in the run loop
///
/// While a thread looks, a lane that it looks at need not be signalled: it stops looking with the lock held, and then only if nothing is pending
/// there. No handler runs meanwhile, so no run loop does.
extension ThreadMailbox {
    /// What a thread that looks has.
    struct Spinning {
        var budget = SpinBudget()
        /// How many times in a row one alone has to come until this is no burst any more.
        private var burst = 0
        /// More than one came together a while ago. Then it is better to let more come together than to take each as it comes.
        var isBurst: Bool { burst > 0 }

        mutating func taken(moreThanOne: Bool) {
            burst = moreThanOne ? 16 : max(0, burst - 1)
        }

        private var looks = 0
        private var mayUse = 0

        /// Whether who posts runs on this thread's processor and will go on doing so; then it would look in vain. On how many it
        /// may run is asked now and then, for it may change.
        mutating func sharesProcessor(with poster: Int32) -> Bool {
            if looks & 63 == 0 { mayUse = Int(CLinuxUsableProcessors()) }
            looks &+= 1
            return mayUse == 1 && poster == sched_getcpu()
        }
    }

    /// Looks for more in a lane, for so long that the run loop's other work does not wait for long.
    /// - Parameter begin: when the run loop called.
    /// - Returns: whether something is pending in the lane.
    func look(for lane: Int, since begin: UInt64) -> Bool {
        let start = SystemThread.monotonicNanoseconds
        guard start - begin < Self.longestTurn, let spinning, !spinning.isBurst, let limit = spinning.budget.limit
        else {
            return false
        }
        let (isPendingAlready, poster): (Bool?, Int32) = state.withLock { state in
            guard state.pending.isEmpty(lane: lane) else { return (true, 0) }
            guard state.phase == .open else { return (false, 0) }
            state.lookedAt = lane
            return (nil, state.posterProcessor)
        }
        if let isPendingAlready { return isPendingAlready }
        let sharesProcessor = self.spinning?.sharesProcessor(with: poster) ?? true
        let spent =
            sharesProcessor ? lookByYielding(from: start, for: limit) : lookBySpinning(from: start, for: limit)
        let isFound = state.withLock { state in
            state.lookedAt = nil
            return !state.pending.isEmpty(lane: lane)
        }
        if isFound {
            self.spinning?.budget.found(after: spent)
        } else {
            self.spinning?.budget.foundNothing(after: spent)
        }
        return isFound
    }

    /// In nanoseconds. After it, what is pending takes its turn with what else the run loop has.
    private static let longestTurn: UInt64 = 1_000_000

    /// - Returns: how long it took, in nanoseconds, `limit` at most. What others take of it when this thread lets them run counts too: where they
    /// take long, it is better to sleep, and to be woken ahead of them.
    private func lookBySpinning(from start: UInt64, for limit: Int) -> Int {
        while true {
            var isFound = false
            for _ in 0..<50 where !isFound {
                isFound = hasPending
                CLinuxPause()
            }
            let spent = Int(SystemThread.monotonicNanoseconds - start)
            if isFound || spent >= limit { return min(spent, limit) }
            // Others may need this processor more.
            CLinuxYield()
        }
    }

    /// On one processor nothing comes while this thread runs; whoever would post may run first.
    /// - Returns: as `lookBySpinning`.
    private func lookByYielding(from start: UInt64, for limit: Int) -> Int {
        for _ in 0..<2 where !hasPending { CLinuxYield() }
        return min(Int(SystemThread.monotonicNanoseconds - start), limit)
    }
}
