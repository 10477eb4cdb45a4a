internal import DeliveryRecording
internal import TerminalText

/// A rule and the recording that it is checked against. The checks of `RuleForm.all` are in the extensions.
struct CheckedRule {
    let rule: Rule
    let words: RecordWords
    /// Shared by the rules about findings.
    let diagnosis: Diagnosis?
    /// The rule's names in the recording; nil for one that it does not have.
    private let found: [Int32?]
    /// For each thread: true if it is at the rule's place. All are if there is no place.
    let isAtPlace: [Bool]
    var index: RecordingIndex { words.index }

    init(_ rule: Rule, _ words: RecordWords, diagnosis: Diagnosis?) {
        (self.rule, self.words, self.diagnosis) = (rule, words, diagnosis)
        found = rule.names.map { words.recording.name(called: $0) }
        isAtPlace = words.recording.threads.indices.map { thread in
            rule.place.map { words.recording.isThread(thread, called: $0) } ?? true
        }
    }

    func result() -> RuleResult {
        let recording = words.recording
        if let missing = found.firstIndex(of: nil).map({ rule.names[$0] }) {
            return lacks("notification", missing, recording.name(similarTo: missing))
        }
        // Every process has a main thread.
        if let name = rule.place, name != "1", !isAtPlace.contains(true) {
            return lacks("thread", name, recording.threadName(similarTo: name))
        }
        return rule.form.check(self)
    }

    private func lacks(_ what: String, _ name: String, _ similar: String?) -> RuleResult {
        let text = "the recording does not have the \(what) \(Excerpt.of(ShownText.name(name)))"
        let suggestion = similar.map { "; did you mean \(Excerpt.of(ShownText.name($0)))?" } ?? ""
        // A rule that something does not happen holds if there is nothing that it is about.
        return result(rule.form.pattern.hasPrefix("no "), text + suggestion)
    }

    /// The rule's name, and the other one; nil if it is about every name.
    var name: Int32? { found.first ?? nil }
    var other: Int32? { found.last ?? nil }

    /// The name in words.
    var named: String { words.name(name ?? -1) }

    func holds(_ explanation: String) -> RuleResult { result(true, explanation) }

    func fails(_ explanation: String, _ findings: [Finding] = []) -> RuleResult { result(false, explanation, findings) }

    private func result(_ holds: Bool, _ explanation: String, _ findings: [Finding] = []) -> RuleResult {
        let findings = findings.map { $0.described(words) }
            .sorted { ($0.evidence.first ?? .max, $0.problem) < ($1.evidence.first ?? .max, $1.problem) }
        return RuleResult(rule: rule, holds: holds, explanation: explanation, findings: findings)
    }

    // MARK: Findings and records

    /// `no finding`, `no problem`, `no wrongThread`.
    func noFinding(_ severity: Finding.Severity? = nil) -> RuleResult {
        let found = (diagnosis?.findings ?? []).filter {
            severity ?? $0.severity == $0.severity && rule.kind ?? $0.kind == $0.kind
        }
        let accepted = diagnosis.map { $0.acceptedCount == 0 ? "" : ", and \($0.acceptedCount) accepted" } ?? ""
        let what = severity?.rawValue ?? "finding"
        let count = found.isEmpty ? "no \(what)s" : counted(found.count, what)
        return RuleResult(rule: rule, holds: found.isEmpty, explanation: count + accepted, findings: found)
    }

    func complete() -> RuleResult {
        fails(words.recording.incompleteness ?? "", words.recording.problems.map { Finding(problem: "\($0)") })
    }
}
