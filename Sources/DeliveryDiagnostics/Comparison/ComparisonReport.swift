/// The result of a comparison as text, and as one JSON document.
package struct ComparisonReport: Sendable, Encodable, CustomStringConvertible {
    /// The text. Several lines, without the last newline.
    package let description: String

    private let outcome: String
    /// True if the runs agree up to a truncation.
    package private(set) var isTruncated = false
    /// The number of records or lines that are the same.
    private var compared: Int?
    private var threadCount: Int?
    /// The names of notifications whose outcomes differ by chance.
    private var byChance: [String]?
    /// The number of tries to match threads, if time was up.
    private var tries: Int?
    /// Later ones may be consequences of the first.
    private var differences: [RunDifference]?

    /// Of logs: what was compared without its order, the numbers of lines that were not compared, the pairs of lines in
    /// another order, and expressions that mask most differences.
    private var unordered: [String]?
    private var skipped: [Int]?
    private var hints: [String]?
    private var masks: [String]?

    private enum CodingKeys: CodingKey {
        case outcome, compared, threadCount, byChance, tries, differences, unordered, skipped, hints, masks
    }

    package init(_ result: RunComparison.Outcome, maximumDifferences: Int = .max) {
        switch result {
        case .same(let records, let threads, let names):
            outcome = "same"
            (compared, threadCount, byChance) = (records, threads, names.isEmpty ? nil : names)
            description =
                "the same: \(counted(records, "record")) by \(counted(threads, "thread"))"
                + (names.isEmpty
                    ? ""
                    : "\nSome notifications were dropped or coalesced in one run only, which a policy leaves to "
                        + "chance: \(names.joined(separator: ", ")).")
        case .different(let differences):
            outcome = "different"
            self.differences = differences
            description = Self.text(of: differences, maximumDifferences)
        case .truncated(let difference):
            isTruncated = true
            outcome = "undecided"
            differences = [difference]
            description = "the runs agree up to a truncation\n\(difference)"
        case .undecided(let tries, let difference):
            outcome = "undecided"
            (self.tries, differences) = (tries, [difference])
            description = """
                the comparison is undecided: threads without names are so similar that it has to try which thread is \
                which, and the time was up after \(counted(tries, "try", plural: "tries")). Give the threads names to \
                avoid this. The best try found this difference:
                \(difference)
                """
        }
    }

    private static func text(of differences: [RunDifference], _ maximumDifferences: Int) -> String {
        var paragraphs = differences.map(\.description)
        paragraphs[0] = "the runs differ\n" + paragraphs[0]
        if differences.count > 1 {
            paragraphs[1] = "Later differences, which may be consequences of the first:\n" + paragraphs[1]
        }
        if differences.count >= maximumDifferences {
            paragraphs.append("There may be more differences. See --differences.")
        }
        return paragraphs.joined(separator: "\n\n")
    }

    package init(_ logs: LogComparison, maximumDifferences: Int = .max) {
        let sentences = LogSentences(logs)
        (unordered, masks) = (logs.unordered, logs.masks)
        skipped = [logs.skipped.first, logs.skipped.second]
        hints = sentences.hints
        switch logs.outcome {
        case .same:
            outcome = "same"
            (compared, threadCount) = (logs.lines, logs.threads)
            description = sentences.same
        case .different(let differences):
            outcome = "different"
            self.differences = differences
            description = ([Self.text(of: differences, maximumDifferences)] + sentences.notes).joined(separator: "\n\n")
        case .undecided(let difference):
            outcome = "undecided"
            differences = [difference]
            description = """
                the comparison is undecided: threads are so similar that no assignment was found which makes the logs \
                the same, though one may exist. Give the threads names to avoid this, or use --exact. The best try found \
                this difference:
                \(difference)
                """
        }
    }
}
