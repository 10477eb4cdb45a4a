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
    /// Later ones may be consequences of the first.
    private var differences: [RunDifference]?

    /// Of logs: what was compared without its order, the numbers of lines that were not compared, the pairs of lines in
    /// another order, and expressions that mask most differences.
    private var unordered: [String]?
    private var skipped: [Int]?
    private var hints: [String]?
    private var masks: [String]?

    private enum CodingKeys: CodingKey {
        case outcome, compared, threadCount, byChance, differences, unordered, skipped, hints, masks
    }

    package init(_ comparison: RunComparison, maximumDifferences: Int = .max) {
        let notes = comparison.notes
        if let notes {
            (unordered, masks, hints) = (notes.unordered, notes.masks, notes.hints)
            skipped = [notes.skipped.first, notes.skipped.second]
        }
        switch comparison.outcome {
        case .same:
            outcome = "same"
            (compared, threadCount) = (comparison.compared, comparison.threads)
            byChance = comparison.byChance.isEmpty ? nil : comparison.byChance
            let records = counted(comparison.compared, notes == nil ? "record" : "line")
            var lines = ["the same: \(records) by \(counted(comparison.threads, "thread"))"]
            if let byChance {
                lines.append(
                    "Some notifications were dropped or coalesced in one run only, which a policy leaves to chance: "
                        + "\(byChance.joined(separator: ", ")).")
            }
            if let notes { lines += [notes.order].compactMap(\.self) + notes.sentences + notes.hints }
            description = lines.joined(separator: "\n")
        case .different(let differences):
            outcome = "different"
            self.differences = differences
            description = ([Self.text(of: differences, maximumDifferences)] + (notes?.sentences ?? []))
                .joined(separator: "\n\n")
        case .truncated(let difference):
            isTruncated = true
            outcome = "undecided"
            differences = [difference]
            description = "the runs agree up to a truncation\n\(difference)"
        case .undecided(let difference):
            outcome = "undecided"
            differences = [difference]
            description = """
                the comparison is undecided: threads are so similar that no assignment was found which makes the runs \
                the same, though one may exist. Give the threads names to avoid this, or use --exact. The best try found \
                this difference:
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
}
