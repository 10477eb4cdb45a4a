/// The result of a comparison as text, and as one JSON document.
package struct ComparisonReport: Sendable, Encodable, CustomStringConvertible {
    /// The text. Several lines, without the last newline.
    package let description: String

    private let outcome: String
    /// The number of records or lines that are the same.
    private var compared: Int?
    private var threadCount: Int?
    /// The names of notifications whose outcomes differ by chance.
    private var byChance: [String]?
    /// The number of tries to match threads, if time was up.
    private var tries: Int?
    /// Later ones may be consequences of the first.
    private var differences: [RunDifference]?

    private enum CodingKeys: CodingKey {
        case outcome, compared, threadCount, byChance, tries, differences
    }

    package init(_ result: RunComparison.Outcome, maximumDifferences: Int = .max, isLog: Bool = false) {
        switch result {
        case .same(let records, let threads, let names):
            outcome = "same"
            (compared, threadCount, byChance) = (records, threads, names.isEmpty ? nil : names)
            description =
                "the same: \(counted(records, isLog ? "line" : "record")) by \(counted(threads, "thread"))"
                + (names.isEmpty
                    ? ""
                    : "\nSome notifications were dropped or coalesced in one run only, which a policy leaves to "
                        + "chance: \(names.joined(separator: ", ")).")
        case .different(let differences):
            outcome = "different"
            self.differences = differences
            var paragraphs = differences.map(\.description)
            paragraphs[0] = "the runs differ\n" + paragraphs[0]
            if differences.count > 1 {
                paragraphs[1] = "Later differences, which may be consequences of the first:\n" + paragraphs[1]
            }
            if differences.count >= maximumDifferences {
                paragraphs.append("There may be more differences. See --differences.")
            }
            description = paragraphs.joined(separator: "\n\n")
        case .truncated(let difference):
            outcome = "undecided"
            differences = [difference]
            description = "the runs agree up to a truncation\n\(difference)"
        case .undecided(let tries, let difference):
            outcome = "undecided"
            (self.tries, differences) = (tries, [difference])
            description = """
                the comparison is undecided: threads without names are so similar that it has to try which thread is \
                which, and the time was up after \(counted(tries, "try", plural: "tries")). Give the threads names to \
                avoid this\(isLog ? ", or use --exact" : ""). The best try found this difference:
                \(difference)
                """
        }
    }
}
