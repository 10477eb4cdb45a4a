/// Searches for an assignment of threads that makes one run equal to the other.
///
/// A walk takes the first candidate if a thread has several. If the walk fails, the first thread that had a choice is
/// matched with each of its candidates in turn. Each match refines the colours, which rules out most wrong candidates
/// without a walk. If every candidate fails, the runs differ. If time is up, the result is undecided.
struct ThreadSearch {
    /// If the runs are known to differ, more tries can only find a later difference to show.
    private static let maximumTriesToShow = 32

    private let options: RunComparison.Options
    private let colours: ThreadColours
    private let newWalk: (ThreadColours) -> RunWalk
    private let isDifferent: Bool
    private(set) var tries = 0
    private var isTimeUp = false
    private var furthest: (walk: RunWalk, mismatch: RunWalk.Mismatch)?

    /// - Parameter allowsTruncation: whether records may be missing from truncated processes.
    init(
        _ runs: Pair<ComparedRun>, options: RunComparison.Options, allowsTruncation: Bool
    ) {
        self.options = options
        // The records of a truncated process are incomplete, so its threads have no certain colours.
        colours = ThreadColours(runs, areRefined: !options.isExact && !allowsTruncation)
        isDifferent = !colours.areEqual && !allowsTruncation
        newWalk = { RunWalk(runs, colours: $0, isExact: options.isExact, allowsTruncation: allowsTruncation) }
    }

    /// Returns the walk that succeeded, or the one that got furthest and its mismatch. `isUndecided` is true if time
    /// was up before every assignment was tried.
    mutating func run(_ progress: (Int) -> Void) -> (walk: RunWalk, mismatch: RunWalk.Mismatch?, isUndecided: Bool) {
        if let same = search(colours, progress) { return (same, nil, false) }
        guard let furthest else { preconditionFailure("a search makes at least one try") }
        return (furthest.walk, furthest.mismatch, isTimeUp && !isDifferent)
    }

    private mutating func search(_ colours: ThreadColours, _ progress: (Int) -> Void) -> RunWalk? {
        tries += 1
        var walk = newWalk(colours)
        guard let mismatch = walk.run(progress) else { return walk }
        if furthest.map({ $0.walk.compared < walk.compared }) ?? true { furthest = (walk, mismatch) }
        guard let thread = walk.firstChoice else { return nil }
        for candidate in colours.candidates(of: thread) {
            isTimeUp =
                isTimeUp || tries >= (isDifferent ? Self.maximumTriesToShow : options.maximumTries)
                || options.isTimeUp?() ?? false
            if isTimeUp { return nil }
            let individualised = colours.individualised(thread, candidate)
            if individualised.areEqual == colours.areEqual, let same = search(individualised, progress) { return same }
        }
        return nil
    }
}
