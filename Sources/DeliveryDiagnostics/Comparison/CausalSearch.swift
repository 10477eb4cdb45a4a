/// Searches for an assignment of threads that makes one run equal to the other.
///
/// A walk takes the first candidate if there are several. If the walk fails although the threads have the same colours,
/// the first thread that had a choice is matched with each of its candidates in turn. Each match refines the colours,
/// which rules out most wrong candidates without a walk. If every candidate fails, the runs differ. If time is up, the
/// result is undecided.
struct CausalSearch {
    enum Outcome {
        case same(records: Int)
        /// With the try that got furthest.
        case different(CausalWalk, CausalWalk.Mismatch)
        case undecided(CausalWalk, CausalWalk.Mismatch)
    }

    /// If the runs are known to differ, more tries can only find a later difference to show.
    private static let maximumTriesToShow = 32

    private let one: ComparedRun
    private let other: ComparedRun
    private let order: CausalComparison.Order
    private let budget: CausalComparison.Budget
    private(set) var tries = 0
    private var isTimeUp = false
    private var furthest: (walk: CausalWalk, mismatch: CausalWalk.Mismatch)?

    init(
        _ one: ComparedRun, _ other: ComparedRun, order: CausalComparison.Order, budget: CausalComparison.Budget
    ) {
        (self.one, self.other, self.order, self.budget) = (one, other, order, budget)
    }

    mutating func run(_ progress: (Int) -> Void) -> Outcome {
        let colours = ThreadColours(one, other, areRefined: !order.isExact)
        let same = colours.areEqual ? search(colours, progress) : show(colours, progress)
        if let same { return .same(records: same) }
        guard let (walk, mismatch) = furthest else { return .same(records: 0) }
        return isTimeUp ? .undecided(walk, mismatch) : .different(walk, mismatch)
    }

    /// - Returns: the number of records if the runs are the same, else nil.
    private mutating func search(_ colours: ThreadColours, _ progress: (Int) -> Void) -> Int? {
        let candidates = ThreadCandidates(one, other, colours: colours)
        let (same, walked) = walk(candidates, choices: [], progress)
        if let same { return same }
        guard let thread = walked.choices.first?.thread else { return nil }
        for candidate in candidates.withColour(of: thread) {
            if tries >= budget.tries || budget.isOver() { isTimeUp = true }
            if isTimeUp { return nil }
            let refined = colours.individualised(thread, candidate)
            if refined.areEqual, let same = search(refined, progress) { return same }
        }
        return nil
    }

    /// The runs are known to differ. Looks for the assignment with the latest difference.
    private mutating func show(_ colours: ThreadColours, _ progress: (Int) -> Void) -> Int? {
        let candidates = ThreadCandidates(one, other, colours: colours)
        var next: [Int]? = []
        while let taken = next, tries < Self.maximumTriesToShow, tries == 0 || !budget.isOver() {
            let (same, walked) = walk(candidates, choices: taken, progress)
            if let same { return same }
            next = walked.nextChoices
        }
        return nil
    }

    private mutating func walk(
        _ candidates: ThreadCandidates, choices: [Int], _ progress: (Int) -> Void
    ) -> (same: Int?, walk: CausalWalk) {
        tries += 1
        var walk = CausalWalk(one, other, candidates: candidates, order: order, choices: choices)
        guard let mismatch = walk.run(progress) else { return (walk.compared, walk) }
        if furthest.map({ $0.walk.compared < walk.compared }) ?? true { furthest = (walk, mismatch) }
        return (nil, walk)
    }
}
