internal import DeliveryRecording

/// Compares two runs by cause and effect. The runs are the same if threads, processes, posts and observers can be
/// renamed so that each chain of one run (see `CausalChains`) equals a chain of the other. How chains interleave is
/// chance and is not compared.
///
/// Compares of each record the stage, name, target, observer, post, type of sender, number of observers of a post, and
/// message. Threads in messages are renamed like all others, and addresses in messages are not compared. Outcomes that
/// an overflow policy or coalescing leaves to chance are compared by what must hold (see `ChanceOutcomes`).
///
/// A text log has no causes, so the messages of each thread are compared, in order. A recording that is compared with a
/// log is reduced to its messages.
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
        /// Whether to skip lines of text logs that are not in NSLog's format instead of adding them to the message
        /// before. Nil to do so if one of the logs is the combined output of a program.
        package var skipsOtherLines: Bool?
        package var budget = Budget()

        package init() {}
    }

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
        /// The number of records compared, and of their threads. The names are those of notifications with outcomes
        /// that differ by chance.
        case same(records: Int, threads: Int, byChance: [String])
        case different([RunDifference])
        /// Everything that a truncated recording has is the same.
        case truncated(RunDifference)
        /// The time was not enough to decide which thread is which. With the number of tries, and the difference that
        /// the most successful try found.
        case undecided(tries: Int, RunDifference)
    }

    package let outcome: Outcome
    /// For each run: the number of lines that were skipped because they are not in NSLog's format.
    package let skippedLines: [Int]

    /// - Parameter progress: called from time to time with the number of records compared.
    package init(
        _ first: ComparisonInput, _ second: ComparisonInput, options: Options = Options(),
        progress: (Int) -> Void = { _ in }
    ) {
        let isLogged = !(first.isRecording && second.isRecording)
        let order: ComparisonOrder =
            isLogged ? (options.isExact ? .loggedExactly : .logged) : options.isExact ? .exact : .causal
        let skips = options.skipsOtherLines ?? (first.isCombinedOutput || second.isCombinedOutput)
        var skipped: [Int] = []
        let inputs = [first, second].map { input -> (recording: Recording, log: TextLog?) in
            switch input {
            case .recording(let recording):
                skipped.append(0)
                return (recording, nil)
            case .log(let log):
                let read = log.recording(skipsOtherLines: skips)
                skipped.append(read.skipped)
                return (read.recording, log)
            }
        }
        skippedLines = skipped
        // Recordings that were made by hand have no ends.
        let hasEnd = inputs.map { $0.recording.entries.contains { $0.stage == .end } }
        var texts = ComparedTexts()
        let runs = zip(inputs, hasEnd).map { input, isEnded in
            let truncations = input.recording.completeness.map { completeness -> Recording.Truncation? in
                guard case .truncated(let reason) = completeness, hasEnd.contains(true) || reason != .noEnd else {
                    return nil
                }
                return reason
            }
            return ComparedRun(
                input.recording, log: input.log, order: order, ignored: options.ignored,
                truncations: isLogged ? [] : truncations,
                lacksEnd: !isLogged && !isEnded && hasEnd.contains(true), texts: &texts)
        }
        var search = DifferenceSearch(runs[0], runs[1], order: order, budget: options.budget)
        outcome = search.run(maximum: options.maximumDifferences, progress)
    }
}

/// Which records are compared, and in which order.
enum ComparisonOrder {
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
