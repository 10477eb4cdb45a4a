internal import DeliveryRecording
internal import ThreadedNotifications

/// What a recording shows: a problem of the program, or something worth knowing.
///
/// Detectors and the rules of `check` make findings. All reports are functions of them.
struct Finding: Sendable, Hashable {
    enum Severity: String, Sendable {
        /// Almost certainly not what the author of the program intended.
        case problem
        case note
    }

    /// Set by the diagnosis, as is the rank.
    var kind = Kind.rule
    var severity = Severity.problem
    /// For example `observer 3 of Saved ran on worker 3 times`.
    var problem: String
    /// Indices of entries; -1 is left out. The first three are shown.
    var evidence: [Int32] = []
    /// Empty for a rule.
    var remedy = ""
    /// How often or how severe. Findings of a detector are sorted by it, largest first.
    var weight = 1
    /// Index in the recording's strings of the notification's name; -1 if it concerns none.
    var name: Int32 = -1
    /// Index in the recording's threads of the thread that causes the problem; -1 if there is none.
    var thread: Int32 = -1
    /// The position of its detector in `Detector.all`.
    var rank = 0

    /// Evidence is shown in the order of the recording, and each record once.
    mutating func orderEvidence() { evidence = Set(evidence).filter { $0 >= 0 }.sorted() }

    /// True if a file of accepted findings or a rule names its kind.
    func isCalled(_ kind: String) -> Bool { self.kind.name == kind || Kind.formerNames[kind] == self.kind }
}

extension Finding: Comparable {
    static func < (one: Finding, other: Finding) -> Bool {
        func order(_ finding: Finding) -> (Int, Int, Int) {
            (finding.severity == .problem ? 0 : 1, finding.rank, -finding.weight)
        }
        if order(one) != order(other) { return order(one) < order(other) }
        return one.evidence.lexicographicallyPrecedes(other.evidence)
    }
}

// MARK: In words

extension Finding {
    static let maximumEvidence = 3

    /// The problem, with the severity of what a detector found.
    var sentence: String { kind == .rule ? problem : "\(severity.rawValue): \(problem)" }

    /// The lines after the sentence: the evidence and the remedy.
    func lines(_ words: RecordWords) -> [String] {
        evidence.prefix(Self.maximumEvidence).map(words.evidence) + (remedy.isEmpty ? [] : ["remedy: \(remedy)"])
    }

    /// The fields of a JSON object.
    func object(_ words: RecordWords) -> [String: Any] {
        var object: [String: Any] = ["evidence": evidence.prefix(Self.maximumEvidence).map(words.evidenceFields)]
        object["location"] = location(words)?.description
        guard kind != .rule else { return object }
        if name >= 0 { object["name"] = words.recording.strings[Int(name)] }
        return object.merging(
            ["kind": kind.name, "severity": severity.rawValue, "problem": problem, "remedy": remedy]) { $1 }
    }

    /// The first source location of the evidence. A location without a line has the name of a function in place of the
    /// file.
    func location(_ words: RecordWords) -> SourceLocation? {
        evidence.lazy.filter { $0 >= 0 }.compactMap(words.sourceLocation).first { $0.line > 0 }
    }

    /// - Parameter rule: the rule that it breaks; nil for a finding of the diagnosis.
    func reported(_ words: RecordWords, breaking rule: String? = nil) -> ReportedFinding {
        ReportedFinding(
            isProblem: rule != nil || severity == .problem, title: rule ?? kind.name,
            text: rule == nil ? problem : sentence, lines: lines(words), location: location(words))
    }
}
