package import DeliveryRecording

/// Compares two runs: two recordings by cause and effect, or two text logs by thread.
///
/// Runs are the same if their lanes (see `ComparedRun`) correspond one to one to equal lanes of the other, with
/// threads, processes, posts and observers renamed. How lanes interleave is chance and is not compared.
///
/// Compares of each record the stage, name, target, observer, post, type of sender, number of observers of a post, and
/// message; of each line the level and text. Addresses are not compared. How many notifications an overflow policy
/// drops or coalesces is chance: if it does in one of the runs, and all work is done on the same threads, the outcomes
/// of notifications with such names are left out, with everything that they cause.
///
/// Cost: a few passes over both runs, and memory in proportion to their size.
package struct RunComparison: Sendable, Encodable, CustomStringConvertible {
    package struct Options: Sendable {
        /// Names of notifications that are not compared, with everything that their handlers do.
        package var ignored: Set<String> = []
        /// The largest number of differences to find.
        package var maximumDifferences = 5
        /// Regular expressions for the names, or ids, of threads of text logs that stand for one another.
        package var pools: [String] = []

        package init() {}
    }

    package enum Outcome: String, Sendable, Encodable {
        case same, different
        /// Everything that an incomplete recording has is the same, or threads are so similar that no assignment was
        /// found. With the difference of the truncation, or the first one of the assignment that was tried.
        case undecided
    }

    package private(set) var outcome = Outcome.same
    /// Later ones may be consequences of the first.
    package private(set) var differences: [RunDifference] = []
    private var mayHaveMore = false
    /// The number of records or lines of the first run that are the same, and of their threads.
    let compared: Int
    let threadCount: Int
    /// `record` or `line`.
    private let unit: String
    /// The names of notifications of which the outcomes were left out, because a policy leaves them to chance.
    private(set) var byChance: [String] = []
    /// Sentences about what was compared.
    private var notes: [String] = []
    /// Of logs: lines that another run has in another order.
    private var hints: [String] = []
    /// Of logs: expressions that mask the differences, if most are in digits only.
    private var masks: [String] = []

    private enum CodingKeys: CodingKey {
        case outcome, differences, compared, threadCount, byChance, notes, hints, masks
    }

    /// True if two text logs are the same, and lines of different threads that occur once are in the same order.
    package var isSameInOrder: Bool { outcome == .same && hints.isEmpty }

    package init(_ first: Recording, _ second: Recording, options: Options = Options()) {
        let indices = Pair(RecordingIndex(first), RecordingIndex(second))
        // What one of the recordings does not say is not compared.
        let havePools = [first, second].allSatisfy { $0.threads.contains(where: \.isInPool) }
        func explained(without byPolicy: Set<String>) -> RecordDifferences {
            let runs = RunSide.allCases.map { side in
                ComparedRecording(indices[side], ignored: options.ignored, byPolicy: byPolicy, havePools: havePools)
            }
            return RecordDifferences(LaneMatching(Pair(runs[0].run, runs[1].run)), Pair(runs[0], runs[1]))
        }
        var found = explained(without: [])
        let byPolicy = Set([first, second].flatMap(\.namesByPolicy))
        // On which threads a policy does not decide.
        if !found.matching.differences.isEmpty, !byPolicy.isEmpty, !found.haveWorkElsewhere {
            found = explained(without: byPolicy)
            byChance = byPolicy.sorted()
        }
        (compared, threadCount, unit) = (found.matching.matched, found.recordings.first.comparedThreadCount, "record")
        if !byChance.isEmpty {
            let names = byChance.joined(separator: ", ")
            notes = ["Left out, because a policy dropped or coalesced some of them: the outcomes of \(names)."]
        }
        decide(found, options)
        if outcome == .same, let end = found.end {
            (outcome, differences) = (.different, [end])
        } else if outcome == .same, found.matching.isTruncated {
            (outcome, differences) = (.undecided, [found.truncation])
        }
    }

    /// - Throws: if a regular expression of the options cannot be used.
    package init(_ first: TextLog, _ second: TextLog, options: Options = Options()) throws {
        let threads = try LogThreads([first, second], pools: options.pools)
        let logs = Pair(ComparedLog(first, threads), ComparedLog(second, threads))
        let found = LogDifferences(LaneMatching(logs.map(\.run)), logs)
        (compared, threadCount, unit) = (first.messages.count, first.writers.count, "line")
        decide(found, options)
        if outcome == .same { hints = found.hints }
        if outcome == .different { masks = found.masks }
        notes = found.notes(pools: options.pools, masks: masks)
    }

    private mutating func decide(_ found: some Explanation, _ options: Options) {
        differences = found.found(found.matching.isUndecided ? 1 : options.maximumDifferences)
        outcome = found.matching.isUndecided ? .undecided : differences.isEmpty ? .same : .different
        mayHaveMore = outcome == .different && differences.count == options.maximumDifferences
    }

    /// Several lines, without the last newline.
    package var description: String {
        let paragraphs = differences.map(\.description)
        switch outcome {
        case .same:
            let head = "the same: \(counted(compared, unit)) by \(counted(threadCount, "thread"))"
            return ([head] + notes + hints).joined(separator: "\n")
        case .different:
            let later = paragraphs.count > 1 ? ["Later differences, which may be consequences of the first:"] : []
            let more = mayHaveMore ? ["There may be more differences. See --differences."] : []
            return (["the runs differ\n" + paragraphs[0]] + later + paragraphs.dropFirst() + more + notes)
                .joined(separator: "\n\n")
        case .undecided where differences.first?.reason == .truncated:
            return "the runs agree up to a truncation\n\(paragraphs[0])"
        case .undecided:
            return """
                the comparison is undecided: threads are so similar that no assignment was found which makes the runs \
                the same, though one may exist. Give the threads names to avoid this. The best try found this difference:
                \(paragraphs[0])
                """
        }
    }
}

extension Recording {
    /// The names of notifications that an overflow policy dropped, or that were coalesced.
    fileprivate var namesByPolicy: Set<String> {
        Set(entries.lazy.filter { $0.stage == .coalesce || $0.stage == .drop }.compactMap(name(of:)))
    }
}
