/// Something that happened in a trial.
struct TrialEvent: Sendable, Hashable {
    /// What happened: what verdicts go by.
    var words: String
    /// How much, how long or which: what is worth reading and differs from run to run.
    var detail: String?

    init(_ words: String, detail: String? = nil) {
        self.words = words
        self.detail = detail
    }

    /// As it is told from process to process: the detail follows a tab.
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
