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
        /// Compares everything in the order of the files.
        package var isExact = false
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
            let selected = Pair(first, second).map { recording in
                Result { () throws(RecordingSelection.NothingSelected) in
                    try RecordingSelection(filter, of: recording)
                }
            }
            if case .failure = selected.first { _ = try selected.second.get() }
            selections = selected.map { try? $0.get() }
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

    package init(_ first: Recording, _ second: Recording, options: Options = Options()) {
        var recordings = Pair(first, second)
        recordings.forgetWhatOneLacks()
        let indices = recordings.map { RecordingIndex($0) }
        let runs = RunSide.allCases.map { side in
            let selection = options.selections?[side]
            return ComparedRecording(indices[side], isExact: options.isExact, ignored: options.ignored) { entry in
                options.selections == nil || selection?.contains(entry) == true
            }
        }
        let compared = Pair(runs[0], runs[1])
        var found = LaneMatching(compared.map(\.run), .none)
        found.run()
        if !found.differences.isEmpty, !options.isExact, case let chance = ChanceOutcomes(compared.map(\.run)),
            !chance.isEmpty
        {
            found = LaneMatching(compared.map(\.run), chance)
            found.run()
        }
        if found.differences.isEmpty { byChance = found.chance.names(compared) }
        (outcome, self.compared) = (Self.outcome(found, compared, options), found.matched)
        threads = compared.first.comparedThreadCount
    }
}

extension RunComparison {
    private static func outcome(
        _ matching: LaneMatching, _ runs: Pair<ComparedRecording>, _ options: Options
    ) -> Outcome {
        let explained = RecordDifferences(matching, runs, isExact: options.isExact)
        let differences = explained.found(options.maximumDifferences)
        if let first = differences.first { return matching.isUndecided ? .undecided(first) : .different(differences) }
        if !options.isExact, let difference = explained.end { return .different([difference]) }
        if runs.first.run.isTruncated || runs.second.run.isTruncated { return .truncated(explained.truncation) }
        return .same
    }

    /// - Throws: if a regular expression of the options cannot be used.
    package init(_ first: TextLog, _ second: TextLog, options: Options = Options()) throws(LogPattern.Refusal) {
        let logs = try ComparedLogs(Pair(first, second), pools: options.pools, isExact: options.isExact)
        var matching = LaneMatching(logs.runs, .none)
        matching.run()
        let explained = LogDifferences(matching, logs, isExact: options.isExact)
        let differences = explained.found(options.maximumDifferences)
        if let first = differences.first {
            outcome = matching.isUndecided ? .undecided(first) : .different(differences)
        } else {
            outcome = .same
        }
        (compared, threads) = (first.messages.count, first.writers.count)
        notes = LogNotes(matching, logs, explained, options)
    }
}

extension Pair<Recording> {
    /// What one of the recordings does not say is not compared: without a thread of a pool, which threads belong to
    /// pools; without the reason of a removal, whether its token was cancelled or released.
    fileprivate mutating func forgetWhatOneLacks() {
        let recordings = [first, second]
        let havePools = recordings.allSatisfy { $0.threads.contains(where: \.isInPool) }
        let haveReasons = recordings.allSatisfy { recording in
            recording.entries.allSatisfy { $0.stage != .remove || $0.reason != nil || $0.isFoundation }
        }
        // A Foundation center says at the end of a post how many handlers it called.
        let haveCounts = recordings.allSatisfy { recording in
            recording.entries.allSatisfy { $0.stage != .post || !$0.isFoundation || $0.count >= 0 }
        }
        for side in RunSide.allCases {
            for entry in self[side].entries.indices where !haveCounts {
                let isPost = self[side].entries[entry].stage == .post && self[side].entries[entry].isFoundation
                if isPost { self[side].entries[entry].count = -1 }
            }
            for thread in self[side].threads.indices where !havePools { self[side].threads[thread].isInPool = false }
            for entry in self[side].entries.indices where !haveReasons {
                let removal = self[side].entries[entry]
                guard removal.stage == .remove, removal.reason == .cancelled || removal.reason == .released else {
                    continue
                }
                self[side].entries[entry].reason = nil
            }
        }
    }
}
