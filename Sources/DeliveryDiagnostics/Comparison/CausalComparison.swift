/// Compares two runs by what caused what: they are the same if there is a renaming of threads, processes, posts and observers
/// under which each chain of one (see `CausalChains`) is the same as one of the other. How chains interleave is chance, and is
/// not compared.
///
/// Compared of each record are its stage, name, target, observer, post, the kind of sender, the count of a post and the message.
/// In messages, threads are renamed like all others, and addresses are not compared.
/// Cost: a few passes over both, in memory that grows with them.
public struct CausalComparison {
    /// How much may be tried when threads without a name are so alike that only trying tells which is which.
    public struct Budget: Sendable {
        /// How many assignments of threads are tried.
        public var tries: Int
        /// Asked before each try but the first: whether the time for it is over.
        public var isOver: @Sendable () -> Bool

        public init(tries: Int, isOver: @escaping @Sendable () -> Bool) {
            self.tries = tries
            self.isOver = isOver
        }

        /// - Parameter limit: from now on.
        public init(
            tries: Int = 10_000, limit: Duration = .seconds(5), clock: some Clock<Duration> = ContinuousClock()
        ) {
            let end = clock.now.advanced(by: limit)
            self.init(tries: tries) { clock.now >= end }
        }
    }

    public enum Outcome: Sendable {
        /// How many records were compared, and of how many threads they are.
        case same(records: Int, threads: Int)
        case different(CausalDifference)
        /// Neither could be shown in time.
        case undecided(CausalUndecided)
    }

    /// What is compared, and in which order.
    public enum Order: Sendable {
        /// Everything that is caused, by what caused it.
        case causal
        /// All records, in the order of the files.
        case exact
        /// What the program said, each thread in its own order: all that a text log tells for certain.
        case said
        /// What the program said, in the order of the files.
        case saidExactly

        var isExact: Bool { self == .exact || self == .saidExactly }

        /// A text log names no thread.
        var namesThreads: Bool { self == .causal || self == .exact }
    }

    /// When the runs differ for certain, other assignments of threads may only show better where.
    private static let mostTriesToShow = 32

    /// - Parameter progress: told now and then how many records were compared.
    public static func compare(
        _ first: Recording, _ second: Recording, order: Order = .causal, budget: Budget = Budget(),
        progress: (Int) -> Void = { _ in }
    ) -> Outcome {
        var texts = ComparedTexts()
        let one = ComparedRun(first, order: order, texts: &texts)
        let other = ComparedRun(second, order: order, texts: &texts)
        let colours = ThreadColours(one, other, areRefined: !order.isExact)
        let candidates = ThreadCandidates(one, other, colours: colours)

        var best: (walk: CausalWalk, mismatch: CausalWalk.Mismatch)?
        var choices: [Int]? = []
        var tries = 0
        while let taken = choices {
            if tries > 0, tries >= budget.tries || budget.isOver() || (!colours.areEqual && tries >= mostTriesToShow) {
                break
            }
            tries += 1
            var walk = CausalWalk(one, other, candidates: candidates, order: order, choices: taken)
            guard let mismatch = walk.run(progress) else {
                if order == .causal, let difference = CausalDifference(endsOf: first, second) {
                    return .different(difference)
                }
                return .same(records: walk.compared, threads: one.chains.isActive.count { $0 })
            }
            choices = next(after: walk.choices)
            if best.map({ $0.walk.compared < walk.compared }) ?? true { best = (walk, mismatch) }
        }
        guard let best else { return .same(records: 0, threads: 0) }
        let difference = CausalDifference(best.mismatch, of: best.walk, between: one, and: other, order: order)
        // Threads of different colours are never the same, so then no further try could have shown that the runs are.
        if choices != nil, colours.areEqual {
            return .undecided(CausalUndecided(tries: tries, furthest: difference))
        }
        return .different(difference)
    }

    /// The next assignment to try: the last choice of which there is another candidate.
    private static func next(after choices: [CausalWalk.Choice]) -> [Int]? {
        guard let last = choices.lastIndex(where: \.hasMore) else { return nil }
        return choices[..<last].map(\.taken) + [choices[last].taken + 1]
    }
}

/// Why it could not be told in time whether two runs are the same.
public struct CausalUndecided: Sendable, CustomStringConvertible {
    /// How many assignments of threads were tried.
    public var tries: Int
    /// Where the try that went furthest found a difference.
    public var furthest: CausalDifference

    public var description: String {
        """
        it cannot be told in time whether the runs are the same: threads without a name are so alike that only trying tells \
        which is which, and \(tries) of the possible assignments were tried. Name the threads to have them compared. The \
        best try came as far as this:
        \(furthest)
        """
    }
}
