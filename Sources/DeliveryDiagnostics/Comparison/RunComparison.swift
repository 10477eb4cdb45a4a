package import DeliveryRecording

/// Compares two runs: two recordings by cause and effect, or two text logs by thread.
///
/// Runs are the same if their lanes (see `ComparedRun`) correspond one to one to equal lanes of the other, with threads,
/// processes, posts and observers renamed. How lanes interleave is chance and is not compared.
///
/// Compares of each record the stage, name, target, observer, post, type of sender, number of observers of a post, and
/// message; of each line the level and text. Addresses are not compared. Outcomes that an overflow policy or coalescing
/// leaves to chance are compared by what must hold (see `ChanceOutcomes`).
///
/// Cost: a few passes over both runs, and memory in proportion to their size.
package struct RunComparison: Sendable {
    package struct Options: Sendable {
        /// Names of notifications that are not compared, with everything that their handlers do.
        package var ignored: Set<String> = []
        /// The largest number of differences to find.
        package var maximumDifferences = 5
        /// Regular expressions for the names, or ids, of threads of text logs that stand for one another.
        package var pools: [String] = []
        /// For each recording: the records to compare, or nil for none. Nil to compare everything.
        fileprivate var selections: Pair<RecordingSelection?>?

        package init() {}

        /// Compares only what a filter selects.
        ///
        /// - Throws: `NothingSelected` if neither recording contains what the filter names.
        package mutating func select(
            _ filter: RecordingFilter, of first: Recording, _ second: Recording
        ) throws(RecordingSelection.NothingSelected) {
            let selected = try? RecordingSelection(filter, of: first)
            do {
                selections = Pair(selected, try RecordingSelection(filter, of: second))
            } catch {
                if selected == nil { throw error }
                selections = Pair(selected, nil)
            }
        }
    }

    package enum Outcome: Sendable {
        case same
        case different([RunDifference])
        /// Everything that an incomplete recording has is the same.
        case truncated(RunDifference)
        /// Threads are so similar that no assignment was found. With the first difference of the one that was tried.
        case undecided(RunDifference)
    }

    package let outcome: Outcome
    /// The number of records or lines of the first run that are the same, and of their threads.
    let compared: Int
    let threads: Int
    /// The names of notifications with outcomes that differ by chance.
    private(set) var byChance: [String] = []
    /// What else is said of text logs.
    private(set) var notes: LogNotes?

    /// True if two text logs are the same, and lines of different threads that occur once are in the same order.
    package var isSameInOrder: Bool { if case .same = outcome { notes?.hints.isEmpty == true } else { false } }

    package init(_ first: Recording, _ second: Recording, options: Options = Options()) {
        var recordings = Pair(first, second)
        recordings.forgetWhatOneLacks()
        let runs = RunSide.allCases.map { side in
            let selection = options.selections?[side]
            return ComparedRecording(RecordingIndex(recordings[side]), ignored: options.ignored) { entry in
                options.selections == nil || selection?.contains(entry) == true
            }
        }
        let compared = Pair(runs[0], runs[1])
        var found = LaneMatching(compared.map(\.run), ChanceOutcomes(nil))
        if !found.differences.isEmpty, case let chance = ChanceOutcomes(compared.map(\.run)), !chance.isEmpty {
            found = LaneMatching(compared.map(\.run), chance)
            if found.differences.isEmpty { byChance = Set(runs.flatMap { $0.names(of: chance.topics) }).sorted() }
        }
        let explained = RecordDifferences(found, compared)
        if let outcome = Self.outcome(found, explained.found(options.maximumDifferences)) {
            self.outcome = outcome
        } else if let difference = explained.end {
            outcome = .different([difference])
        } else {
            outcome = found.isTruncated ? .truncated(explained.truncation) : .same
        }
        (self.compared, threads) = (found.matched, compared.first.comparedThreadCount)
    }

    /// - Throws: if a regular expression of the options cannot be used.
    package init(_ first: TextLog, _ second: TextLog, options: Options = Options()) throws(LogPattern.Refusal) {
        let logs = try ComparedLogs(Pair(first, second), pools: options.pools)
        let matching = LaneMatching(logs.runs, ChanceOutcomes(nil))
        let explained = LogDifferences(matching, logs)
        outcome = Self.outcome(matching, explained.found(options.maximumDifferences)) ?? .same
        (compared, threads) = (first.messages.count, first.writers.count)
        notes = LogNotes(explained, pools: options.pools)
    }

    private static func outcome(_ matching: LaneMatching, _ differences: [RunDifference]) -> Outcome? {
        differences.first.map { matching.isUndecided ? .undecided($0) : .different(differences) }
    }
}

extension Pair<Recording> {
    /// What one of the recordings does not say is not compared: without a thread of a pool, which threads belong to
    /// pools; without the reason of a removal, whether its token was cancelled or released; without the end of a post of
    /// a Foundation center, how many handlers it called.
    fileprivate mutating func forgetWhatOneLacks() {
        func both(_ isSaid: (Recording) -> Bool) -> Bool { isSaid(first) && isSaid(second) }
        let havePools = both { $0.threads.contains(where: \.isInPool) }
        let haveReasons = both { $0.entries.allSatisfy { $0.stage != .remove || $0.reason != nil || $0.isFoundation } }
        let haveCounts = both { $0.entries.allSatisfy { !$0.isFoundationPost || $0.count >= 0 } }
        for side in RunSide.allCases {
            for thread in self[side].threads.indices where !havePools { self[side].threads[thread].isInPool = false }
            guard !haveReasons || !haveCounts else { continue }
            for number in self[side].entries.indices {
                let entry = self[side].entries[number]
                if !haveCounts, entry.isFoundationPost { self[side].entries[number].count = -1 }
                if !haveReasons, entry.stage == .remove, entry.reason == .cancelled || entry.reason == .released {
                    self[side].entries[number].reason = nil
                }
            }
        }
    }
}

extension Recording.Entry {
    fileprivate var isFoundationPost: Bool { stage == .post && isFoundation }
}
