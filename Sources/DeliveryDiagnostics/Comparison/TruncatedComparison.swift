internal import DeliveryRecording

/// Decides whether two runs differ only in records that a truncated recording lacks. If so, the comparison is
/// undecided.
///
/// A recording is truncated if its last line is incomplete, if records of it are missing, or if it has no `end` record
/// and the other recording has one. Each of its chains must be the beginning of a chain of the other run.
struct TruncatedComparison {
    enum Outcome {
        /// The runs also differ in records that both have.
        case different(CausalDifference)
        case sameUpToTruncation(CausalDifference)
        /// Which thread is which could not be decided in time.
        case undecided(tries: Int)
    }

    private let one: ComparedRun
    private let other: ComparedRun
    private let order: CausalComparison.Order
    private let truncation: CausalWalk.Truncation

    /// Nil if neither recording is truncated.
    init?(_ one: ComparedRun, _ other: ComparedRun, order: CausalComparison.Order) {
        let (first, second) = (one.recording, other.recording)
        // A text log has no `end`.
        let hasKnownEnd = order.namesThreads && first.hasEnd != second.hasEnd
        truncation = CausalWalk.Truncation(
            one: first.isIncomplete || (hasKnownEnd && second.hasEnd),
            other: second.isIncomplete || (hasKnownEnd && first.hasEnd))
        guard truncation.one || truncation.other else { return nil }
        (self.one, self.other, self.order) = (one, other, order)
    }

    /// - Returns: nil if neither direction was searched.
    func run(_ budget: CausalComparison.Budget, _ progress: (Int) -> Void) -> Outcome? {
        var tries = 0
        var outcome: Outcome?
        // Each thread of a truncated run has a counterpart, but not each thread of the other run. So the walk goes
        // through the truncated run. If both are truncated, either may be the shorter one.
        for isForward in [true, false] where isForward ? truncation.one : truncation.other {
            outcome = run(isForward, budget, &tries, progress)
            guard case .different = outcome else { break }
        }
        return outcome
    }

    private func run(
        _ isForward: Bool, _ budget: CausalComparison.Budget, _ tries: inout Int, _ progress: (Int) -> Void
    ) -> Outcome? {
        let (truncated, another) = isForward ? (one, other) : (other, one)
        // The threads' records are incomplete, so they cannot serve as colours.
        let colours = ThreadColours(truncated, another, areRefined: false)
        let candidates = ThreadCandidates(truncated, another, colours: colours)
        var furthest: (walk: CausalWalk, mismatch: CausalWalk.Mismatch)?
        var next: [Int]? = []
        while let taken = next {
            guard tries < budget.tries, tries == 0 || !budget.isOver() else { return .undecided(tries: tries) }
            tries += 1
            var walk = CausalWalk(
                truncated, another, candidates: candidates, order: order, choices: taken,
                truncation: CausalWalk.Truncation(one: true, other: isForward ? truncation.other : truncation.one))
            guard let mismatch = walk.run(progress) else { return .sameUpToTruncation(difference(walk, isForward)) }
            if furthest.map({ $0.walk.compared < walk.compared }) ?? true { furthest = (walk, mismatch) }
            next = walk.nextChoices
        }
        return furthest.map { walk, mismatch in
            let difference = CausalDifference(mismatch, of: walk, between: truncated, and: another, order: order)
            return .different(isForward ? difference : difference.reversed)
        }
    }

    private func difference(_ walk: CausalWalk, _ isForward: Bool) -> CausalDifference {
        let unmatched =
            isForward ? (walk.firstMissing, walk.firstUnmatched) : (walk.firstUnmatched, walk.firstMissing)
        let names = CausalDifference.names(one.recording, other.recording)
        let truncatedName = truncation.one && truncation.other ? "they are" : "\(truncation.one ? names.0 : names.1) is"
        let records = walk.compared - walk.missing
        var explanation = [
            "The runs are the same up to where \(truncatedName) truncated: \(records) \(records == 1 ? "record" : "records")."
        ]
        if truncation.one { explanation.append(reason(of: one.recording, names.0)) }
        if truncation.other { explanation.append(reason(of: other.recording, names.1)) }
        return CausalDifference(
            reason: .truncated, first: side(one.recording, unmatched.0), second: side(other.recording, unmatched.1),
            explanation: explanation)
    }

    /// The reason why a recording counts as truncated.
    private func reason(of recording: Recording, _ name: String) -> String {
        if recording.completeness.contains(.truncated(.line)) { return "The last line of \(name) is incomplete." }
        if recording.isIncomplete { return "Records of \(name) are missing." }
        return "\(name) has no end record, but the other has one."
    }

    private func side(_ recording: Recording, _ index: Int?) -> CausalDifference.Side {
        if let index { return CausalDifference.Side(recording, index) }
        return CausalDifference.Side(
            source: recording.source, line: recording.entries.last.map { Int($0.line) }, text: "(no further records)")
    }
}

extension Recording {
    fileprivate var hasEnd: Bool { entries.contains { $0.stage == .end } }

    /// True if records are known to be missing.
    fileprivate var isIncomplete: Bool {
        completeness.contains {
            switch $0 {
            case .truncated(.line), .truncated(.lost), .truncated(.missing): true
            case .complete, .truncated(.damaged), .truncated(.noEnd): false
            }
        }
    }
}
