internal import DeliveryRecording
internal import TerminalText

/// A rule and the recording that it is checked against. The checks of `RuleForm.all` are in the extensions.
struct CheckedRule {
    let rule: Rule
    let words: RecordWords
    /// Shared by the rules about findings.
    let diagnosis: () -> Diagnosis
    /// The rule's names in the recording; nil for one that it does not have.
    private let found: [Int32?]
    /// For each thread: true if it is at the rule's place. All are if there is no place.
    let isAtPlace: [Bool]
    var index: RecordingIndex { words.index }

    init(_ rule: Rule, _ words: RecordWords, diagnosis: @escaping () -> Diagnosis) {
        (self.rule, self.words, self.diagnosis) = (rule, words, diagnosis)
        found = rule.names.map { words.recording.name(called: $0) }
        isAtPlace = words.recording.threads.indices.map { thread in
            switch rule.place {
            case nil: true
            case .main: words.index.isMain(Int32(thread))
            case .thread(let name): words.recording.isThread(thread, called: name)
            }
        }
    }

    func result() -> RuleResult {
        let recording = words.recording
        if let missing = found.firstIndex(of: nil).map({ rule.names[$0] }) {
            return lacks("notification", missing, recording.names(similarTo: missing))
        }
        // Every process has a main thread.
        if case .thread(let name) = rule.place, !isAtPlace.contains(true) {
            return lacks("thread", name, [recording.threadName(similarTo: name)].compactMap(\.self))
        }
        return rule.form.check(self)
    }

    private func lacks(_ what: String, _ name: String, _ similar: [String]) -> RuleResult {
        let names = similar.map { Excerpt.of(Rule.name($0)) }.joined(separator: " or ")
        let text = "the recording does not have the \(what) \(Excerpt.of(Rule.name(name)))"
        return result(rule.isAboutAbsence, text + (names.isEmpty ? "" : "; did you mean \(names)?"))
    }

    /// The rule's name, and the other one; nil if it is about every name.
    var name: Int32? { found.first ?? nil }
    var other: Int32? { found.last ?? nil }

    /// The name in words.
    var named: String { words.name(name ?? -1) }

    func holds(_ explanation: String) -> RuleResult { result(true, explanation) }

    func fails(_ explanation: String, _ findings: [Finding] = []) -> RuleResult { result(false, explanation, findings) }

    private func result(_ holds: Bool, _ explanation: String, _ findings: [Finding] = []) -> RuleResult {
        var findings = findings
        for number in findings.indices { findings[number].orderEvidence() }
        findings.sort { ($0.evidence.first ?? .max, $0.problem) < ($1.evidence.first ?? .max, $1.problem) }
        return RuleResult(rule: rule, holds: holds, explanation: explanation, findings: findings)
    }

    // MARK: Times

    /// A call of a handler or of a post, or a delivery.
    struct Call {
        /// Calls of one kind, such as those of an observer, are one finding.
        let kind: [Int32]
        let begin, end: Int32
        /// True if it is too long in any case.
        var isEndless = false
    }

    /// Holds if no call is longer than the rule's time.
    ///
    /// - Parameter problem: the sentence for the longest call of a kind.
    func limited(_ calls: [Call], _ all: String, problem: (Call, _ time: String) -> String) -> RuleResult {
        func time(_ call: Call) -> UInt64 { index.time(from: call.begin, to: call.end) }
        let longest = ElapsedTime.text(calls.map(time).max() ?? 0)
        let long = calls.filter { $0.isEndless || time($0) > UInt64(rule.time.nanoseconds) }
        if long.isEmpty { return holds(calls.isEmpty ? all : "\(all), the longest \(longest)") }
        let findings = long.grouped(by: \.kind).map { calls in
            let longest = calls.reduce(calls[0]) { time($1) > time($0) ? $1 : $0 }
            return Finding(
                problem: problem(longest, ElapsedTime.text(time(longest)))
                    + (calls.count == 1 ? "" : "; \(calls.count) were too long"),
                evidence: [longest.begin, longest.end])
        }
        return fails("\(long.count) of \(all) took longer, up to \(longest)", findings)
    }

    // MARK: Findings

    /// `no finding`, `no problem`, `no wrongThread`.
    func noFinding(_ what: String = "finding", where isWanted: (Finding) -> Bool) -> RuleResult {
        let diagnosis = diagnosis()
        let found = diagnosis.findings.filter(isWanted)
        let count = found.isEmpty ? "no \(what)s" : counted(found.count, what)
        let accepted = diagnosis.acceptedCount == 0 ? "" : ", and \(diagnosis.acceptedCount) accepted"
        return RuleResult(rule: rule, holds: found.isEmpty, explanation: count + accepted, findings: found)
    }

    func complete() -> RuleResult {
        words.recording.incompleteness.map { fails($0, words.recording.problems.map { Finding(problem: "\($0)") }) }
            ?? holds("")
    }
}
