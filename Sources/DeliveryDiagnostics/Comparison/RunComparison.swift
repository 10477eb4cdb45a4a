package import DeliveryRecording
internal import TerminalText

/// Compares two runs: two recordings by cause and effect, or two text logs by thread.
///
/// Runs are the same if their lanes (see `ComparedRun`) correspond one to one to equal lanes of the other, with
/// threads, processes, posts and observers renamed. How lanes interleave is chance and is not compared.
/// `ComparedSource.parts` has the compared parts of a line.
///
/// How many notifications an overflow policy drops or coalesces is chance: if it does in one of the runs, a difference
/// decides only if it is one of threads.
///
/// Cost: a few passes over both runs, and memory in proportion to their size.
package struct RunComparison: Sendable, Encodable, CustomStringConvertible {
    package enum Outcome: String, Sendable, Encodable {
        case same, different
        /// The differences may be chance, or those of missing records, or threads are so similar that no assignment was
        /// found.
        case undecided
    }

    package private(set) var outcome = Outcome.same
    /// Later ones may be consequences of the first.
    package private(set) var differences: [RunDifference] = []
    /// The number of records or lines that are the same, and of the threads of the first run.
    let compared: Int
    let threadCount: Int
    /// Sentences about what was compared.
    private var notes: [String] = []
    /// Of logs: lines that another run has in another order.
    private var hints: [String] = []
    private let unit: String
    private let mayHaveMore: Bool

    private enum CodingKeys: CodingKey {
        case outcome, differences, compared, threadCount, notes, hints
    }

    /// True if two text logs are the same, and lines of different threads that occur once are in the same order.
    package var isSameInOrder: Bool { outcome == .same && hints.isEmpty }

    package static let usualMaximum = 5

    /// - Parameters:
    ///   - ignored: names of notifications that are not compared, with everything that their handlers do.
    ///   - maximum: the largest number of differences to find.
    package init(
        _ first: Recording, _ second: Recording, ignored: Set<String> = [], maximum: Int = usualMaximum
    ) {
        let recordings = [first, second]
        let sources = recordings.map { ComparedRecording(RecordingIndex($0), ignored: ignored) }
        let found = DifferenceWords(matching: LaneMatching(sources.map(\.run)), sources: sources)
        self.init(found, maximum)
        let byPolicy = Set(recordings.flatMap(\.namesByPolicy)).subtracting(ignored)
        // On which threads a policy does not decide.
        if !byPolicy.isEmpty, let first = differences.first, first.reason != .thread, first.reason != .target {
            outcome = .undecided
            let names = byPolicy.sorted().map { ShellText.option("--ignore", $0) }.joined(separator: " ")
            notes.append(
                "A policy dropped or coalesced notifications, which may be chance. To leave them out: \(names)")
        }
        let incomplete = zip(found.names, recordings).compactMap { name, recording in
            recording.incompleteness.map { "\(name) is incomplete: \($0)." }
        }
        if !incomplete.isEmpty { outcome = .undecided }
        notes += incomplete
        // The ends of two runs, if both recordings have one.
        let ends = recordings.map { $0.entries.lastIndex { $0.stage == .end } }
        let reasons = zip(recordings, ends).compactMap { recording, end in end.map { recording.entries[$0].reason } }
        if outcome == .same, reasons.count == 2, reasons[0] != reasons[1],
            reasons.contains(where: { $0?.isSignal == true })
        {
            outcome = .different
            differences = [found.difference(.end, ends, RunDifference.Reason.end.sentence)]
        }
    }

    /// - Parameter pools: regular expressions for the names, or ids, of threads that stand for one another.
    /// - Throws: if one of these cannot be used.
    package init(_ first: TextLog, _ second: TextLog, pools: [String] = [], maximum: Int = usualMaximum) throws {
        let threads = try LogThreads([first, second], pools: pools)
        let logs = [ComparedLog(first, threads), ComparedLog(second, threads)]
        let found = DifferenceWords(matching: LaneMatching(logs.map(\.run)), sources: logs)
        self.init(found, maximum)
        let all = LogNotes(words: found, logs: logs)
        (notes, hints) = (notes + all.sentences, outcome == .same ? all.hints : [])
    }

    private init(_ found: DifferenceWords, _ maximum: Int) {
        (compared, threadCount) = (found.matching.matched, found.sources[0].threadCount)
        unit = found.matching.runs[0].isText ? "line" : "record"
        differences = found.differences(maximum)
        mayHaveMore = differences.count == maximum
        outcome = found.matching.isUndecided ? .undecided : differences.isEmpty ? .same : .different
        if outcome == .undecided {
            notes = [
                "Threads are so similar that no assignment was found which makes the runs the same, though one may "
                    + "exist. Give the threads names to avoid this."
            ]
        }
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
        case .undecided:
            let found = paragraphs.first.map { "The first difference found, which may be none:\n\($0)" }
            let same = "What both have is the same: \(counted(compared, unit))."
            return (["the comparison is undecided"] + notes + [found ?? same]).joined(separator: "\n")
        }
    }
}

extension Recording {
    /// The names of notifications that an overflow policy dropped, or that were coalesced.
    fileprivate var namesByPolicy: Set<String> {
        Set(entries.lazy.filter { $0.stage == .coalesce || $0.stage == .drop }.compactMap(name(of:)))
    }
}
