/// Searches for the differences of two runs, one after the other. What a difference shows is removed from both runs,
/// with everything that it caused, before the next one is searched for.
struct DifferenceSearch {
    private let order: ComparisonOrder
    private let budget: RunComparison.Budget
    private var one: ComparedRun
    private var other: ComparedRun

    init(_ one: ComparedRun, _ other: ComparedRun, order: ComparisonOrder, budget: RunComparison.Budget) {
        (self.one, self.other, self.order, self.budget) = (one, other, order, budget)
    }

    mutating func run(maximum: Int, _ progress: (Int) -> Void) -> RunComparison.Outcome {
        var differences: [RunDifference] = []
        var byChance: [String] = []
        var attempt = attempt(progress)
        if case .different = attempt, order == .causal, let chance = ChanceOutcomes(one, other) {
            let complete = (one, other)
            one.remove(chance.all.first)
            other.remove(chance.all.second)
            attempt = self.attempt(progress)
            // If all else is the same, it tells which outcomes correspond to each other.
            if case .same(let walk) = attempt {
                (one, other) = complete
                let entries = chance.byChance(walk)
                one.remove(entries.first)
                other.remove(entries.second)
                byChance = chance.names
                attempt = self.attempt(progress)
            }
        }
        while true {
            switch attempt {
            case .same(let walk):
                if !differences.isEmpty { return .different(differences) }
                if order == .causal, let difference = RunDifference(endsOf: one, other) {
                    return .different([difference])
                }
                return .same(records: walk.compared, threads: one.threadCount, byChance: byChance)
            case .different(let difference, let removed):
                differences.append(difference)
                guard differences.count < maximum else { return .different(differences) }
                one.remove(removed.first)
                other.remove(removed.second)
            case .truncated(let difference):
                return differences.isEmpty ? .truncated(difference) : .different(differences)
            case .undecided(let tries, let difference):
                return differences.isEmpty ? .undecided(tries: tries, difference) : .different(differences)
            }
            attempt = self.attempt(progress)
        }
    }

    private enum Attempt {
        case same(RunWalk)
        /// With the entries that have to be removed to find the next difference.
        case different(RunDifference, removing: (first: [Int], second: [Int]))
        case truncated(RunDifference)
        case undecided(tries: Int, RunDifference)
    }

    private func attempt(_ progress: (Int) -> Void) -> Attempt {
        var search = ThreadSearch(one, other, order: order, budget: budget)
        switch search.run(progress) {
        case .same(let walk):
            return .same(walk)
        case .different(let walk, let mismatch):
            return attemptTruncated(progress) ?? different(mismatch, walk, one, other, isForward: true)
        case .undecided(let walk, let mismatch):
            let explainer = DifferenceExplainer(mismatch: mismatch, walk: walk, one: one, other: other, order: order)
            return .undecided(tries: search.tries, explainer.difference)
        }
    }

    /// Decides whether the runs differ only in records that a truncated recording lacks. Nil if none is truncated.
    ///
    /// Each thread of a truncated run has a counterpart, but not each thread of the other run, so the walk goes through
    /// the truncated run. If both are truncated, either may be the shorter one.
    private func attemptTruncated(_ progress: (Int) -> Void) -> Attempt? {
        var attempt: Attempt?
        for isForward in [true, false] {
            let (truncated, another) = isForward ? (one, other) : (other, one)
            guard truncated.isTruncated else { continue }
            var search = ThreadSearch(truncated, another, order: order, budget: budget, allowsTruncation: true)
            switch search.run(progress) {
            case .same(let walk):
                let unmatched = (walk.firstMissing, walk.firstUnmatched())
                return .truncated(
                    RunDifference(
                        truncated: one, isForward ? unmatched.0 : unmatched.1,
                        other, isForward ? unmatched.1 : unmatched.0, records: walk.compared - walk.missing))
            case .different(let walk, let mismatch):
                attempt = different(mismatch, walk, truncated, another, isForward: isForward)
            case .undecided(let walk, let mismatch):
                let explainer = DifferenceExplainer(
                    mismatch: mismatch, walk: walk, one: truncated, other: another, order: order)
                let difference = explainer.difference
                return .undecided(tries: search.tries, isForward ? difference : difference.reversed)
            }
        }
        return attempt
    }

    private func different(
        _ mismatch: RunWalk.Mismatch, _ walk: RunWalk, _ one: ComparedRun, _ other: ComparedRun, isForward: Bool
    ) -> Attempt {
        let explainer = DifferenceExplainer(mismatch: mismatch, walk: walk, one: one, other: other, order: order)
        let (difference, removed) = (explainer.difference, explainer.removed)
        return isForward
            ? .different(difference, removing: removed)
            : .different(difference.reversed, removing: (removed.second, removed.first))
    }
}
