/// An event of a trial.
struct TrialEvent: Sendable, Hashable {
    /// The event in words. Verdicts compare them.
    var words: String
    /// A number, a duration or a message that is worth reading but differs from run to run. Verdicts ignore it.
    var detail: String?

    init(_ words: String, detail: String? = nil) {
        self.words = words
        self.detail = detail
    }

    /// Parses the line that one process sends to the other. The detail follows a tab.
    init(line: some StringProtocol) {
        let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false)
        self.init(String(parts[0]), detail: parts.count > 1 ? String(parts[1]) : nil)
    }

    var line: String {
        words + (detail.map { "\t\($0)" } ?? "")
    }
}

extension TrialEvent: CustomStringConvertible {
    var description: String {
        words + (detail.map { " (\($0))" } ?? "")
    }
}
