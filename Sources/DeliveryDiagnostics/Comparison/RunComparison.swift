package import DeliveryRecording

/// Compares two runs by cause and effect. The runs are the same if threads, processes, posts and observers can be
/// renamed so that each chain of one run (see `CausalChains`) equals a chain of the other. How chains interleave is
/// chance and is not compared.
///
/// Compares of each record the stage, name, target, observer, post, type of sender, number of observers of a post, and
/// message. Threads in messages are renamed like all others, and addresses in messages are not compared. Outcomes that
/// an overflow policy or coalescing leaves to chance are compared by what must hold (see `ChanceOutcomes`).
///
/// Cost: a few passes over both recordings for each difference, and memory in proportion to their size.
package struct RunComparison {
    package struct Options: Sendable {
        /// Compares everything in the order of the files.
        package var isExact = false
        /// Names of notifications that are not compared, with everything that their handlers do.
        package var ignored: Set<String> = []
        /// The largest number of differences to find.
        package var maximumDifferences = 5
        /// The number of assignments of threads to try. Threads without names may be so alike that some are tried.
        package var maximumTries = 10_000
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
        /// The number of records compared, and of their threads. The names are those of notifications with outcomes
        /// that differ by chance.
        case same(records: Int, threads: Int, byChance: [String])
        case different([RunDifference])
        /// Everything that an incomplete recording has is the same.
        case truncated(RunDifference)
        /// The time was not enough to decide which thread is which. With the number of tries, and the difference that
        /// the most successful try found.
        case undecided(tries: Int, RunDifference)
    }

    package let outcome: Outcome

    /// - Parameter progress: called from time to time with the number of records compared.
    package init(
        _ first: Recording, _ second: Recording, options: Options = Options(), progress: (Int) -> Void = { _ in }
    ) {
        var recordings = Pair(first, second)
        // A run without a thread of a pool may be one whose recording does not say so, as in version 2.
        if !RunSide.allCases.allSatisfy({ recordings[$0].threads.contains(where: \.isInPool) }) {
            for side in RunSide.allCases { recordings[side].forgetPools() }
        }
        var texts = ComparedTexts()
        let runs = Pair(
            ComparedRun(recordings.first, options, options.selections.map(\.first), &texts),
            ComparedRun(recordings.second, options, options.selections.map(\.second), &texts))
        var search = DifferenceSearch(runs, options)
        outcome = search.run(progress)
    }
}

extension Recording {
    fileprivate mutating func forgetPools() {
        for thread in threads.indices { threads[thread].isInPool = false }
    }
}
