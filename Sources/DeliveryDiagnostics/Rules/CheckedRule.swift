internal import DeliveryRecording
internal import TerminalText

/// A rule and the recording that it is checked against. The checks of `RuleForm.all` are in the extensions.
struct CheckedRule {
    let rule: Rule
    let words: RecordWords
    /// Shared by the rules about findings.
    let diagnosis: () -> Diagnosis
    /// The rule's names in the recording; nil for one that it does not have.
    let found: [Int32?]
    var index: RecordingIndex { words.index }

    init(_ rule: Rule, _ words: RecordWords, diagnosis: @escaping () -> Diagnosis) {
        (self.rule, self.words, self.diagnosis) = (rule, words, diagnosis)
        found = rule.names.map { words.recording.name(called: $0) }
    }

    func result() -> RuleResult {
        guard let missing = found.firstIndex(of: nil).map({ rule.names[$0] }) else { return rule.form.check(self) }
        let similar = words.recording.names(similarTo: missing)
        return result(rule.isAboutAbsence, lacks("the notification \(Rule.name(missing))", similar))
    }

    /// The rule's name; nil if it is about every name.
    var name: Int32? { found.first ?? nil }

    func holds(_ explanation: String) -> RuleResult { result(true, explanation) }

    func fails(_ explanation: String, _ findings: [Finding] = []) -> RuleResult { result(false, explanation, findings) }

    /// Holds if nothing breaks the rule; otherwise it fails, with a finding for each group of what does.
    func result<Element>(
        _ holding: String, unless broken: [[Element]], _ failing: @autoclosure () -> String,
        _ finding: ([Element]) -> Finding
    ) -> RuleResult {
        broken.isEmpty ? holds(holding) : fails(failing(), broken.map(finding))
    }

    private func result(_ holds: Bool, _ explanation: String, _ findings: [Finding] = []) -> RuleResult {
        var findings = findings
        for number in findings.indices { findings[number].orderEvidence() }
        findings.sort { ($0.evidence.first ?? .max, $0.problem) < ($1.evidence.first ?? .max, $1.problem) }
        return RuleResult(rule: rule, holds: holds, explanation: explanation, findings: findings)
    }

    // MARK: Threads

    /// For each thread: true if it is at the rule's place. All are if there is no place.
    var isAtPlace: [Bool] {
        words.recording.threads.indices.map { thread in
            switch rule.place {
            case nil: true
            case .main: index.isMain(Int32(thread))
            case .thread(let name): words.recording.isThread(thread, called: name)
            }
        }
    }

    /// Says that the recording does not have the thread of the rule's place, and which similar name there is; nil if it
    /// has. Every process has a main thread.
    var missingPlace: String? {
        guard case .thread(let name)? = rule.place, !isAtPlace.contains(true) else { return nil }
        return lacks("the thread \(Rule.name(name))", [words.recording.threadName(similarTo: name)].compactMap(\.self))
    }

    private func lacks(_ what: String, _ similar: [String]) -> String {
        let names = similar.map { Excerpt.of(Rule.name($0)) }.joined(separator: " or ")
        return "the recording does not have \(Excerpt.of(what))" + (names.isEmpty ? "" : "; did you mean \(names)?")
    }

    // MARK: Times

    /// A call of a handler or of a post, or a delivery.
    struct Call {
        /// Calls of one kind, such as those of an observer, are one finding.
        let kind: [Int32]
        let begin: Int32
        let end: Int32
        /// True if it had not ended when the recording did, which is too long in any case.
        var isEndless = false
    }

    /// - Parameters:
    ///   - rest: what else is true if it holds.
    ///   - problem: the sentence for the longest call of a kind, without what it has in common.
    func no(
        _ noun: String, plural: String? = nil, in calls: [Call], rest: String = "",
        problem: (Call, _ time: String) -> String
    ) -> RuleResult {
        func time(_ call: Call) -> UInt64 { index.time(from: call.begin, to: call.end) }
        let all = counted(calls.count, noun, plural: plural)
        let longest = ElapsedTime.text(calls.map(time).max() ?? 0)
        let long = calls.filter { $0.isEndless || time($0) > UInt64(rule.time.nanoseconds) }
        return result(
            calls.isEmpty ? all : "\(all), the longest \(longest)\(rest)", unless: long.grouped(by: \.kind),
            "\(long.count) of \(all) took longer, up to \(longest)"
        ) { calls in
            let longest = calls.reduce(calls[0]) { time($1) > time($0) ? $1 : $0 }
            let isOne = calls.count == 1
            return Finding(
                problem: problem(longest, (isOne ? "" : "up to ") + ElapsedTime.text(time(longest)))
                    + (isOne ? "" : ", and was too long \(words.times(calls.count))"),
                evidence: [longest.begin, longest.end])
        }
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
