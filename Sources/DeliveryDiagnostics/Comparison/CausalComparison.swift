package import DeliveryRecording

/// Compares two runs by cause and effect. The runs are the same if threads, processes, posts and observers can be
/// renamed so that each chain of one run (see `CausalChains`) equals a chain of the other. How chains interleave is
/// chance and is not compared.
///
/// Compares of each record the stage, name, target, observer, post, type of sender, number of observers of a post, and
/// message. Threads in messages are renamed like all others, and addresses in messages are not compared.
/// Cost: a few passes over both recordings, and memory in proportion to their size.
package struct CausalComparison {
    /// Limits the search for matching threads. Threads without names may be so alike that assignments have to be tried.
    package struct Budget: Sendable {
        /// The number of assignments to try.
        package var tries: Int
        /// Returns whether the time is up. Called before each try except the first.
        package var isOver: @Sendable () -> Bool

        package init(tries: Int, isOver: @escaping @Sendable () -> Bool) {
            self.tries = tries
            self.isOver = isOver
        }

        /// - Parameter limit: the time for the search, from now on.
        package init(
            tries: Int = 10_000, limit: Duration = .seconds(5), clock: some Clock<Duration> = ContinuousClock()
        ) {
            let end = clock.now.advanced(by: limit)
            self.init(tries: tries) { clock.now >= end }
        }
    }

    package enum Outcome: Sendable {
        /// The number of records compared, and of their threads.
        case same(records: Int, threads: Int)
        case different(CausalDifference)
        /// The time was not enough to decide, or a recording is truncated and everything in it is the same.
        case undecided(CausalUndecided)
    }

    /// Which records are compared, and in which order.
    package enum Order: Sendable {
        /// All records that have a cause, by their chains.
        case causal
        /// All records, in the order of the files.
        case exact
        /// Log messages, in the order of each thread. A text log has no other reliable order.
        case logged
        /// Log messages, in the order of the files.
        case loggedExactly

        var isExact: Bool { self == .exact || self == .loggedExactly }

        /// True if threads can be told by name. A text log has no thread names.
        var namesThreads: Bool { self == .causal || self == .exact }
    }

    /// - Parameter progress: called from time to time with the number of records compared.
    package static func compare(
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
            switch TruncatedComparison(one, other, order: order)?.run(budget, progress) {
            case nil:
                return .different(difference)
            case .different(let inBoth):
                return .different(inBoth)
            case .sameUpToTruncation(let truncated):
                return .undecided(CausalUndecided(tries: search.tries, furthest: truncated))
            case .undecided(let tries):
                return .undecided(CausalUndecided(tries: tries, furthest: difference))
            }
        case .undecided(let walk, let mismatch):
            let difference = CausalDifference(mismatch, of: walk, between: one, and: other, order: order)
            return .undecided(CausalUndecided(tries: search.tries, furthest: difference))
        }
    }
}

/// Why a comparison could not decide whether two runs are the same.
package struct CausalUndecided: Sendable, CustomStringConvertible {
    /// The number of assignments of threads that were tried.
    package var tries: Int
    /// The difference that the most successful try found.
    package var furthest: CausalDifference

    /// True if the comparison stopped where a recording is truncated: everything in it is the same.
    package var isTruncated: Bool { furthest.reason == .truncated }

    package var description: String {
        if isTruncated { return furthest.description }
        return """
            the comparison is undecided: threads without names are so similar that it has to try which thread is \
            which, and the time was up after \(tries) \(tries == 1 ? "try" : "tries"). Give the threads names to \
            avoid this. The best try found this difference:
            \(furthest)
            """
    }
}
