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
        /// More than one came together. Then it is better to let more come together than to take each as it comes.
        var isBurst = false
        var looks = 0
        var hasOneProcessor = false

        /// Whether the thread may use one processor only; then it would look in vain. It is asked now and then, for it may change.
        mutating func isAlone() -> Bool {
            if looks & 63 == 0 { hasOneProcessor = CLinuxUsableProcessors() == 1 }
            looks &+= 1
            return hasOneProcessor
        }
    }

    /// Looks for more in a lane, for so long that the run loop's other work does not wait for long.
    /// - Parameter begin: when the run loop called.
    /// - Returns: whether something is pending in the lane.
    func look(for lane: Int, since begin: UInt64) -> Bool {
        let start = SystemThread.monotonicNanoseconds
        guard start - begin < Self.longestTurn, let spinning, spinning.budget.mayLook else {
            return false
        }
        let isPendingAlready = state.withLock { state in
            guard state.pending.isEmpty(lane: lane) else { return true }
            guard state.phase == .open else { return false }
            state.lookedAt = lane
            return false
        }
        if isPendingAlready { return true }
        let isAlone = self.spinning?.isAlone() ?? true
        let end = isAlone ? lookByYielding() : lookBySpinning(from: start, isBurst: spinning.isBurst)
        let isFound = state.withLock { state in
            state.lookedAt = nil
            return !state.pending.isEmpty(lane: lane)
        }
        let spent = Int(end - start)
        if isFound {
            self.spinning?.budget.found(after: spent)
        } else {
            self.spinning?.budget.foundNothing(after: spent)
        }
        return isFound
    }

    /// In nanoseconds. After it, what is pending takes its turn with what else the run loop has.
    private static let longestTurn: UInt64 = 1_000_000

    /// - Returns: when it ended.
    private func lookBySpinning(from start: UInt64, isBurst: Bool) -> UInt64 {
        if isBurst { for _ in 0..<300 { CLinuxPause() } }
        while true {
            for _ in 0..<50 {
                if hasPending { return SystemThread.monotonicNanoseconds }
                CLinuxPause()
            }
            let now = SystemThread.monotonicNanoseconds
            if now - start >= SpinBudget.longest { return now }
            // Others may need this processor more.
            CLinuxYield()
        }
    }

    /// On one processor nothing comes while this thread runs; whoever would post may run first.
    private func lookByYielding() -> UInt64 {
        for _ in 0..<2 where !hasPending { CLinuxYield() }
        return SystemThread.monotonicNanoseconds
    }
}
