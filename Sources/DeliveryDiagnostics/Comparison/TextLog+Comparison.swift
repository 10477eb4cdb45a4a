extension TextLog {
    package enum Outcome: Hashable, Sendable {
        case same(lines: Int, threads: Int)
        case different(LogDifference)
        /// Which thread is which could not be decided in time. The value is the number of tries.
        case undecided(tries: Int)

        package init(_ outcome: LogComparison.Outcome) {
            switch outcome {
            case .same(let lines, let threads): self = .same(lines: lines, threads: threads)
            case .different(let difference): self = .different(difference)
            }
        }
    }

    /// Compares the messages of each thread of two text logs, in order. How threads interleave is not compared.
    ///
    /// - Parameter progress: called from time to time with the number of lines that are the same so far.
    package static func compare(
        _ first: TextLog, _ second: TextLog, budget: CausalComparison.Budget = CausalComparison.Budget(),
        progress: (Int) -> Void = { _ in }
    ) -> Outcome {
        switch CausalComparison.compare(
            first.recording, second.recording, order: .logged, budget: budget, progress: progress)
        {
        case .same(let records, let threads): .same(lines: records, threads: threads)
        case .undecided(let undecided): .undecided(tries: undecided.tries)
        case .different(let difference): .different(LogDifference(difference, of: first, second))
        }
    }
}

extension LogDifference {
    fileprivate init(_ difference: CausalDifference, of first: TextLog, _ second: TextLog) {
        var indices = (difference.first.index, difference.second.index)
        let reason: Reason
        switch difference.reason {
        case .onlyInFirst:
            indices.1 = difference.secondUnmatched
            switch indices {
            case (let one?, let other?) where one == other:
                // The logs are the same up to here, also in the order of their lines.
                reason = .thread(
                    Mismatch(
                        firstSeen: first.firstLine(ofThreadOf: one), secondSeen: second.firstLine(ofThreadOf: other)))
            case (_, nil): reason = .oneEnds
            case (_, _): reason = .threadEnds
            }
        case .onlyInSecond: reason = .oneEnds
        case .mention: reason = .mention
        case .stage, .name, .post, .observer, .thread, .target, .relatedPost, .count, .sender, .message, .end,
            .truncated:
            reason = .message
        }
        self.init(reason: reason, first: first.side(indices.0), second: second.side(indices.1))
    }
}
