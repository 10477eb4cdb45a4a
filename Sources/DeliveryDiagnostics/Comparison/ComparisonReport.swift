internal import DeliveryRecording

/// The result of a comparison as text, and as one JSON document.
package struct ComparisonReport: Sendable, Encodable, CustomStringConvertible {
    /// The text. Several lines, without the last newline.
    package let description: String

    private let outcome: String
    /// The number of records or lines that are the same.
    private var compared: Int?
    private var threads: Int?
    /// The names of notifications whose outcomes differ by chance.
    private var byChance: [String]?
    /// The number of tries to match threads, if time was up.
    private var tries: Int?
    /// The first difference.
    private var reason: RunDifference.Reason?
    private var explanation: [String]?
    private var first: Side?
    private var second: Side?
    /// The other differences.
    private var further: [ComparisonReport]?

    /// A record or line of one input.
    fileprivate struct Side: Encodable {
        var source: String
        var line: Int?
        var thread: String?
        var stage: DeliveryStage?
        var text: String?
    }

    private enum CodingKeys: CodingKey {
        case outcome, compared, threads, byChance, tries, reason, explanation, first, second, further
    }

    package init(_ outcome: RunComparison.Outcome, maximumDifferences: Int = .max, isLog: Bool = false) {
        switch outcome {
        case .same(let records, let threads, let names):
            let noun = isLog ? "line" : "record"
            var words = "the same: \(counted(records, noun)) by \(counted(threads, "thread"))"
            if !names.isEmpty {
                words +=
                    "\nSome notifications were dropped or coalesced in one run only, which a policy leaves to "
                    + "chance: \(names.joined(separator: ", "))."
            }
            self.init("same", words)
            (compared, self.threads, byChance) = (records, threads, names.isEmpty ? nil : names)
        case .different(let differences):
            var words = differences.map(\.description)
            words[0] = Self.heading(of: differences[0]) + "\n" + words[0]
            if differences.count >= maximumDifferences {
                words.append("There may be more differences. See --differences.")
            }
            self.init("different", words.joined(separator: "\n\n"), differences[0])
            let rest = differences.dropFirst().map { ComparisonReport("different", $0.description, $0) }
            further = rest.isEmpty ? nil : rest
        case .truncated(let difference):
            self.init("undecided", "the runs agree up to a truncation\n\(difference)", difference)
        case .undecided(let tries, let difference):
            let words = """
                the comparison is undecided: threads without names are so similar that it has to try which thread is \
                which, and the time was up after \(counted(tries, "try", plural: "tries")). Give the threads names to \
                avoid this\(isLog ? ", or use --exact" : ""). The best try found this difference:
                \(difference)
                """
            self.init("undecided", words, difference)
            self.tries = tries
        }
    }

    private init(_ outcome: String, _ words: String, _ difference: RunDifference? = nil) {
        (self.outcome, description) = (outcome, words)
        guard let difference else { return }
        (reason, explanation) = (difference.reason, difference.explanation)
        (first, second) = (Side(difference.first), Side(difference.second))
    }

    private static func heading(of difference: RunDifference) -> String {
        let (first, second) = (difference.first, difference.second)
        guard first.isLog, second.isLog else { return "the runs differ" }
        let lines = Set([first.line, second.line].compactMap { $0 })
        return "the logs differ" + (lines.count == 1 ? lines.map { " at line \($0)" }.joined() : "")
    }
}

extension ComparisonReport.Side {
    fileprivate init(_ side: RunDifference.Side) {
        self.init(
            source: side.source, line: side.line, thread: side.thread, stage: side.stage,
            text: side.index.map { _ in side.text })
    }
}
