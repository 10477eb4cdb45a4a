/// Compares two text logs by thread. They are the same if the lanes of one (see `LogLane`) correspond one to one to equal
/// lanes of the other, with threads and processes renamed. How lanes interleave is chance and is not compared.
///
/// Cost: a few passes over both logs, and memory in proportion to their size.
package struct LogComparison: Sendable {
    package struct Options: Sendable {
        /// Compares all messages in the order of the files.
        package var isExact = false
        /// The largest number of differences to find.
        package var maximumDifferences = 5
        /// Regular expressions for the names, or ids, of threads that stand for one another.
        package var pools: [String] = []

        package init() {}
    }

    package enum Outcome: Sendable {
        case same
        case different([RunDifference])
        /// All threads may correspond to one another, but no assignment was found.
        case undecided(RunDifference)
    }

    /// Two lines that occur once in each log, on different threads, in another order. Pairs of line numbers.
    struct Inversion {
        var texts: (String, String)
        var lines: Pair<(Int, Int)>
    }

    /// A thread of one log does what several threads of the other do one after the other.
    struct Reuse {
        var side: RunSide
        /// The first line of the thread, and of the others.
        var line: Int
        var others: [Int]
    }

    package private(set) var outcome = Outcome.same
    let names: Pair<String>
    let isExact: Bool
    /// The number of messages of the first log, and of the threads that wrote them.
    let lines: Int
    let threads: Int
    let skipped: Pair<Int>
    /// Pools and names without ids: what was compared without its order.
    let unordered: [String]
    let hasUnits: Bool
    /// The options with an expression that nothing in the logs matches.
    let unmatched: [String]
    private(set) var inversions: [Inversion] = []
    private(set) var reuses: [Reuse] = []
    /// Expressions for `--mask`, if most differences are in digits only.
    private(set) var masks: [String] = []

    /// - Throws: if a regular expression of the options cannot be used.
    package init(_ first: TextLog, _ second: TextLog, options: Options = Options()) throws(LogPattern.Refusal) {
        let logs = Pair(first, second)
        names = RunDifference.names(logs.map(\.name))
        isExact = options.isExact
        (lines, threads) = (first.messages.count, first.writers.count)
        skipped = logs.map(\.skipped)
        hasUnits = first.unit != nil
        let identities = try LogIdentities(logs, pools: options.pools)
        unordered = isExact ? [] : identities.unordered
        unmatched =
            TextLog.unmatchedUnit([first, second])
            + options.pools.filter { !identities.unordered.contains($0) }.map { "--pool \($0)" }
        var search = LogMatching(logs, identities, isExact: isExact)
        search.run()
        reuses = search.reuses
        let found = search.differences
        guard let earliest = found.first else {
            if !isExact { inversions = search.inversions() }
            return
        }
        let explainer = LogExplainer(search, names)
        if search.isUndecided {
            outcome = .undecided(explainer.difference(earliest))
        } else {
            outcome = .different(found.prefix(options.maximumDifferences).map(explainer.difference))
            masks = explainer.masks(for: found)
        }
    }
}
