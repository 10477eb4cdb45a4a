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
        /// Neither could be shown in time, or a recording was cut and all it has is the same.
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

    /// - Parameter progress: told now and then how many records were compared.
    public static func compare(
        _ first: Recording, _ second: Recording, order: Order = .causal, budget: Budget = Budget(),
        progress: (Int) -> Void = { _ in }
    ) -> Outcome {
        var texts = ComparedTexts()
        let one = ComparedRun(first, order: order, texts: &texts)
        let other = ComparedRun(second, order: order, texts: &texts)
        var search = CausalSearch(one, other, order: order, budget: budget)
        switch search.run(progress) {
        case .same(let records):
            if order == .causal, let difference = CausalDifference(endsOf: first, second) {
                return .different(difference)
            }
            return .same(records: records, threads: one.threadCount)
        case .different(let walk, let mismatch):
            let difference = CausalDifference(mismatch, of: walk, between: one, and: other, order: order)
            switch CutComparison(one, other, order: order)?.run(budget, progress) {
            case nil:
                return .different(difference)
            case .different(let inBoth):
                return .different(inBoth)
            case .sameUpToCut(let cut):
                return .undecided(CausalUndecided(tries: search.tries, furthest: cut))
            case .untold(let tries):
                return .undecided(CausalUndecided(tries: tries, furthest: difference))
            }
        case .undecided(let walk, let mismatch):
            let difference = CausalDifference(mismatch, of: walk, between: one, and: other, order: order)
            return .undecided(CausalUndecided(tries: search.tries, furthest: difference))
        }
    }
}

/// Why it could not be told whether two runs are the same.
public struct CausalUndecided: Sendable, CustomStringConvertible {
    /// How many assignments of threads were tried.
    public var tries: Int
    /// Where the try that went furthest found a difference.
    public var furthest: CausalDifference

    /// Whether that is where a recording was cut: all it has is the same.
    public var isOfCut: Bool { furthest.reason == .cut }

    public var description: String {
        if isOfCut { return furthest.description }
        return """
            it cannot be told in time whether the runs are the same: threads without a name are so alike that only trying tells \
            which is which, and the time for it was over after \(tries) \(tries == 1 ? "try" : "tries"). Threads with names are \
            known by them. The best try came as far as this:
            \(furthest)
            """
    }
}
