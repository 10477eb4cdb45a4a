internal import DeliveryRecording

/// Searches for the differences of two runs, one after the other. The records of a difference are removed from both
/// runs, with everything that they caused, before the next search.
struct DifferenceSearch {
    private let options: RunComparison.Options
    private var runs: Pair<ComparedRun>
    private let end = SuspendingClock.now.advanced(by: .seconds(5))

    init(_ runs: Pair<ComparedRun>, _ options: RunComparison.Options) {
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
        while case .different(let difference, let removed) = attempt {
            differences.append(difference)
            guard differences.count < options.maximumDifferences else { break }
            remove(removed)
            attempt = self.attempt(progress)
        }
        if !differences.isEmpty { return .different(differences) }
        switch attempt {
        case .undecided(let outcome): return outcome
        case .different(let difference, _): return .different([difference])
        case .same(let walk):
            if !options.isExact, let difference = RunDifference(endsOf: runs) { return .different([difference]) }
            if runs.first.isTruncated || runs.second.isTruncated {
                return .truncated(RunDifference(truncated: runs, Pair(nil, nil), records: walk.compared))
            }
            return .same(records: walk.compared, threads: runs.first.comparedThreadCount, byChance: byChance)
        }
    }

    private mutating func remove(_ entries: Pair<[Int]>) {
        for side in RunSide.allCases { runs[side].remove(entries[side]) }
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
        let runs = isReversed ? runs.reversed : runs
        // The records of a truncated process are incomplete, so its threads have no certain colours.
        let colours = ThreadColours(runs, areRefined: !options.isExact && !allowsTruncation)
        let isDifferent = !colours.areEqual && !allowsTruncation
        var search = ThreadSearch(maximumTries: isDifferent ? 32 : options.maximumTries, end: end) { colours in
            RunWalk(runs, colours: colours, isExact: options.isExact, allowsTruncation: allowsTruncation)
        }
        if let walk = search.run(colours, progress) {
            guard allowsTruncation else { return .same(walk) }
            let unmatched = Pair(walk.firstMissing, walk.firstUnmatched())
            return .undecided(
                .truncated(
                    RunDifference(
                        truncated: self.runs, isReversed ? unmatched.reversed : unmatched, records: walk.compared)))
        }
        guard let (walk, mismatch) = search.furthest else { preconditionFailure("a search makes at least one try") }
        var (difference, removed) = DifferenceExplainer(walk: walk, mismatch: mismatch, isExact: options.isExact)
            .explain()
        if isReversed { (difference, removed) = (difference.reversed, removed.reversed) }
        return search.isTimeUp && !isDifferent
            ? .undecided(.undecided(tries: search.tries, difference)) : .different(difference, removing: removed)
    }
}

/// Searches for an assignment of threads that makes one run equal to the other.
///
/// A walk takes the first candidate if a thread has several. If the walk fails, the first thread that had a choice is
/// matched with each of its candidates in turn. Each match refines the colours, which rules out most wrong candidates
/// without a walk. If every candidate fails, the runs differ. If time is up, the result is undecided.
private struct ThreadSearch {
    let maximumTries: Int
    let end: SuspendingClock.Instant
    let newWalk: (ThreadColours) -> RunWalk
    private(set) var tries = 0
    private(set) var isTimeUp = false
    private(set) var furthest: (walk: RunWalk, mismatch: RunWalk.Mismatch)?

    init(maximumTries: Int, end: SuspendingClock.Instant, newWalk: @escaping (ThreadColours) -> RunWalk) {
        (self.maximumTries, self.end, self.newWalk) = (maximumTries, end, newWalk)
    }

    /// The walk that succeeded; nil if none did.
    mutating func run(_ colours: ThreadColours, _ progress: (Int) -> Void) -> RunWalk? {
        tries += 1
        var walk = newWalk(colours)
        guard let mismatch = walk.run(progress) else { return walk }
        if furthest.map({ $0.walk.compared < walk.compared }) ?? true { furthest = (walk, mismatch) }
        guard let thread = walk.firstChoice else { return nil }
        for candidate in colours.candidates(of: thread) {
            isTimeUp = isTimeUp || tries >= maximumTries || SuspendingClock.now >= end
            if isTimeUp { return nil }
            let individualised = colours.individualised(thread, candidate)
            if individualised.areEqual == colours.areEqual, let same = run(individualised, progress) { return same }
        }
        return nil
    }
}
