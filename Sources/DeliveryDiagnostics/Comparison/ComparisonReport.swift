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
    /// The names of notifications with outcomes that differ by chance.
    private var byChance: [String]?
    /// Later ones may be consequences of the first.
    private var differences: [RunDifference]?

    /// Of logs: what was compared without its order, the numbers of lines that were not compared, the pairs of lines in
    /// another order, and expressions that mask most differences.
    private let unordered: [String]?
    private let skipped: [Int]?
    private let hints: [String]?
    private let masks: [String]?

    private enum CodingKeys: CodingKey {
        case outcome, compared, threadCount, byChance, differences, unordered, skipped, hints, masks
    }

    package init(_ comparison: RunComparison, maximumDifferences: Int = .max) {
        let notes = comparison.notes
        (unordered, masks, hints) = (notes?.unordered, notes?.masks, notes?.hints)
        skipped = notes.map { [$0.skipped.first, $0.skipped.second] }
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
        case .different(let found):
            (outcome, differences) = ("different", found)
            var paragraphs = found.map(\.description)
            paragraphs[0] = "the runs differ\n" + paragraphs[0]
            if found.count > 1 {
                paragraphs[1] = "Later differences, which may be consequences of the first:\n" + paragraphs[1]
            }
            if found.count >= maximumDifferences {
                paragraphs.append("There may be more differences. See --differences.")
            }
            description = (paragraphs + (notes?.sentences ?? [])).joined(separator: "\n\n")
        case .truncated(let difference):
            (outcome, differences, isTruncated) = ("undecided", [difference], true)
            description = "the runs agree up to a truncation\n\(difference)"
        case .undecided(let difference):
            (outcome, differences) = ("undecided", [difference])
            description = """
                the comparison is undecided: threads are so similar that no assignment was found which makes the runs \
                the same, though one may exist. Give the threads names to avoid this. The best try found this difference:
                \(difference)
                """
        }
    }
}
