internal import DeliveryRecording

/// Searches for an assignment of threads that makes one run equal to the other.
///
/// A walk takes the first candidate if there are several. If the walk fails although the threads have the same colours,
/// the first thread that had a choice is matched with each of its candidates in turn. Each match refines the colours,
/// which rules out most wrong candidates without a walk. If every candidate fails, the runs differ. If time is up, the
/// result is undecided.
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
        if let same = colours.areEqual ? search(colours, progress) : enumerate(colours, progress) {
            return .same(same)
        }
        guard let (walk, mismatch) = furthest else { preconditionFailure("a search makes at least one try") }
        return isTimeUp ? .undecided(walk, mismatch) : .different(walk, mismatch)
    }

    private mutating func search(_ colours: ThreadColours, _ progress: (Int) -> Void) -> RunWalk? {
        let candidates = ThreadCandidates(one, other, colours: colours)
        let (walked, isSame) = walk(candidates, choices: [], progress)
        if isSame { return walked }
        guard let thread = walked.choices.first?.thread else { return nil }
        for candidate in candidates.byColour[candidates.colour(of: thread)] ?? [] {
            if tries >= budget.tries || budget.isOver() { isTimeUp = true }
            if isTimeUp { return nil }
            let refined = colours.individualised(thread, candidate)
            if refined.areEqual, let same = search(refined, progress) { return same }
        }
        return nil
    }

    /// Tries all choices, one after the other. If nothing may be missing, the runs are known to differ, and the tries
    /// look for the assignment with the latest difference.
    private mutating func enumerate(_ colours: ThreadColours, _ progress: (Int) -> Void) -> RunWalk? {
        let candidates = ThreadCandidates(one, other, colours: colours)
        var next: [Int]? = []
        while let taken = next {
            let isOver = tries >= (allowsTruncation ? budget.tries : Self.maximumTriesToShow)
            if tries > 0, isOver || budget.isOver() {
                isTimeUp = allowsTruncation
                return nil
            }
            let (walked, isSame) = walk(candidates, choices: taken, progress)
            if isSame { return walked }
            next = walked.nextChoices
        }
        return nil
    }

    private mutating func walk(
        _ candidates: ThreadCandidates, choices: [Int], _ progress: (Int) -> Void
    ) -> (walk: RunWalk, isSame: Bool) {
        tries += 1
        var walk = RunWalk(
            one, other, candidates: candidates, order: order, choices: choices, allowsTruncation: allowsTruncation)
        guard let mismatch = walk.run(progress) else { return (walk, true) }
        if furthest.map({ $0.walk.compared < walk.compared }) ?? true { furthest = (walk, mismatch) }
        return (walk, false)
    }
}

/// The threads of the second run that may match one of the first: those of the same colour first, each in order of
/// first appearance.
struct ThreadCandidates {
    private let colours: ThreadColours
    private let keys: (first: [Int32], second: [Int32])
    private(set) var byColour: [UInt64: [Int32]] = [:]
    private var byKey: [Int32: [Int32]] = [:]

    /// True if only threads of the same colour may match. Not so if the runs are known to differ.
    var isStrict: Bool { colours.areEqual }

    init(_ one: ComparedRun, _ other: ComparedRun, colours: ThreadColours) {
        self.colours = colours
        keys = (one.threadKeys, other.threadKeys)
        var seen = Array(repeating: false, count: other.threadKeys.count)
        for (index, entry) in other.recording.entries.enumerated() where other.chains.chainOfEntry[index] >= 0 {
            let thread = Int(other.chains.thread[Int(other.chains.chainOfEntry[index])])
            guard !seen[thread] else { continue }
            seen[thread] = true
            byColour[colours.second[thread], default: []].append(entry.thread)
            byKey[other.threadKeys[thread], default: []].append(entry.thread)
        }
    }

    func colour(of one: Int32) -> UInt64 { colours.first[Int(one)] }

    func ofOtherColours(_ one: Int32) -> [Int32] {
        (byKey[keys.first[Int(one)]] ?? []).filter { colours.second[Int($0)] != colour(of: one) }
    }

    func mayMatch(_ one: Int32, _ other: Int32) -> Bool {
        keys.first[Int(one)] == keys.second[Int(other)]
            && (!isStrict || colours.first[Int(one)] == colours.second[Int(other)])
    }
}
