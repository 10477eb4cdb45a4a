internal import DeliveryRecording

/// Searches for the differences of two runs, one after the other. The records of a difference are removed from both
/// runs, with everything that they caused, before the next search.
struct DifferenceSearch {
    private let options: RunComparison.Options
    private var runs: Pair<ComparedRun>

    init(_ runs: Pair<ComparedRun>, options: RunComparison.Options) {
        (self.runs, self.options) = (runs, options)
    }

    private enum Attempt {
        case same(RunWalk)
        /// With the entries that have to be removed to find the next difference.
        case different(RunDifference, removing: Pair<[Int]>)
        case undecided(RunComparison.Outcome)
    }

    mutating func run(_ progress: (Int) -> Void) -> RunComparison.Outcome {
        var differences: [RunDifference] = []
        var byChance: [String] = []
        var attempt = attempt(progress)
        if case .different = attempt, !options.isExact, let chance = ChanceOutcomes(runs) {
            let complete = runs
            remove(chance.all)
            attempt = self.attempt(progress)
            // If all else is the same, it tells which outcomes correspond to each other.
            if case .same(let walk) = attempt {
                runs = complete
                remove(chance.byChance(walk))
                byChance = chance.names
                attempt = self.attempt(progress)
            }
        }
        if case .different = attempt, !options.isExact, case let moved = MovedWork.found(runs), !moved.isEmpty {
            differences = moved.prefix(options.maximumDifferences).map(\.difference)
            guard differences.count < options.maximumDifferences else { return .different(differences) }
            remove(Pair(moved.flatMap(\.records.first), moved.flatMap(\.records.second)))
            attempt = self.attempt(progress)
        }
        while true {
            switch attempt {
            case .same(let walk):
                if !differences.isEmpty { return .different(differences) }
                if !options.isExact, let difference = RunDifference(endsOf: runs) { return .different([difference]) }
                if runs.first.isTruncated || runs.second.isTruncated {
                    return .truncated(RunDifference(truncated: runs, Pair(nil, nil), records: walk.compared))
                }
                return .same(records: walk.compared, threads: runs.first.comparedThreadCount, byChance: byChance)
            case .undecided(let outcome):
                return differences.isEmpty ? outcome : .different(differences)
            case .different(let difference, let removed):
                differences.append(difference)
                guard differences.count < options.maximumDifferences else { return .different(differences) }
                remove(removed)
            }
            attempt = self.attempt(progress)
        }
    }

    /// Removes also the records of counters, which include what is removed.
    private mutating func remove(_ entries: Pair<[Int]>) {
        for side in RunSide.allCases {
            let all = runs[side].recording.entries
            runs[side].remove(entries[side] + all.indices.filter { all[$0].stage == .count })
        }
    }

    private func attempt(_ progress: (Int) -> Void) -> Attempt {
        var attempt = attempt(isReversed: false, allowsTruncation: false, progress)
        // Each thread of a truncated run has a counterpart, but not each thread of the other run, so the walk goes
        // through the truncated run. If both are truncated, either may be the shorter one.
        for side in RunSide.allCases where runs[side].isTruncated {
            guard case .different = attempt else { break }
            attempt = self.attempt(isReversed: side == .second, allowsTruncation: true, progress)
        }
        return attempt
    }

    private func attempt(isReversed: Bool, allowsTruncation: Bool, _ progress: (Int) -> Void) -> Attempt {
        var search = ThreadSearch(
            isReversed ? runs.reversed : runs, options: options, allowsTruncation: allowsTruncation)
        let (walk, mismatch, isUndecided) = search.run(progress)
        guard let mismatch else {
            guard allowsTruncation else { return .same(walk) }
            let unmatched = Pair(walk.firstMissing, walk.firstUnmatched())
            return .undecided(
                .truncated(
                    RunDifference(
                        truncated: runs, isReversed ? unmatched.reversed : unmatched, records: walk.compared)))
        }
        var (difference, removed) = DifferenceExplainer(walk: walk, mismatch: mismatch, isExact: options.isExact)
            .explain()
        if isReversed { (difference, removed) = (difference.reversed, removed.reversed) }
        return isUndecided
            ? .undecided(.undecided(tries: search.tries, difference)) : .different(difference, removing: removed)
    }
}
