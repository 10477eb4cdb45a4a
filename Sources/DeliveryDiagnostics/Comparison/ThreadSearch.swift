/// Searches for an assignment of threads that makes one run equal to the other.
///
/// A walk takes the first candidate if a thread has several. If the walk fails, the first thread that had a choice is
/// matched with each of its candidates in turn. Each match refines the colours, which rules out most wrong candidates
/// without a walk. If every candidate fails, the runs differ. If time is up, the result is undecided.
struct ThreadSearch {
    enum Outcome {
        case same(RunWalk)
        /// With the try that got furthest.
        case different(RunWalk, RunWalk.Mismatch)
        case undecided(RunWalk, RunWalk.Mismatch)
    }

    /// If the runs are known to differ, more tries can only find a later difference to show.
    private static let maximumTriesToShow = 32

    private let one: ComparedRun
    private let other: ComparedRun
    private let order: ComparisonOrder
    private let budget: RunComparison.Budget
    private let allowsTruncation: Bool
    private(set) var tries = 0
    private var maximumTries = 0
    private var isTimeUp = false
    private var furthest: (walk: RunWalk, mismatch: RunWalk.Mismatch)?

    /// - Parameter allowsTruncation: whether records may be missing from truncated processes.
    init(
        _ one: ComparedRun, _ other: ComparedRun, order: ComparisonOrder, budget: RunComparison.Budget,
        allowsTruncation: Bool = false
    ) {
        (self.one, self.other, self.order, self.budget) = (one, other, order, budget)
        self.allowsTruncation = allowsTruncation
    }

    mutating func run(_ progress: (Int) -> Void) -> Outcome {
        // The records of a truncated process are incomplete, so its threads have no certain colours.
        let colours = ThreadColours(one, other, areRefined: !order.isExact && !allowsTruncation)
        let isDifferent = !colours.areEqual && !allowsTruncation
        maximumTries = isDifferent ? Self.maximumTriesToShow : budget.tries
        if let same = search(colours, progress) { return .same(same) }
        guard let (walk, mismatch) = furthest else { preconditionFailure("a search makes at least one try") }
        return isTimeUp && !isDifferent ? .undecided(walk, mismatch) : .different(walk, mismatch)
    }

    private mutating func search(_ colours: ThreadColours, _ progress: (Int) -> Void) -> RunWalk? {
        tries += 1
        var walk = RunWalk(one, other, colours: colours, order: order, allowsTruncation: allowsTruncation)
        guard let mismatch = walk.run(progress) else { return walk }
        if furthest.map({ $0.walk.compared < walk.compared }) ?? true { furthest = (walk, mismatch) }
        guard let thread = walk.firstChoice else { return nil }
        for candidate in colours.candidates(of: thread) {
            if tries >= maximumTries || budget.isOver() { isTimeUp = true }
            if isTimeUp { return nil }
            let individualised = colours.individualised(thread, candidate)
            if individualised.areEqual == colours.areEqual, let same = search(individualised, progress) { return same }
        }
        return nil
    }
}
