internal import DeliveryRecording
internal import ThreadedNotifications

/// What a recording shows: a problem of the program, or something worth knowing.
///
/// Detectors, the rules of `check` and the expectations of scenarios make findings. All reports are functions of them.
package struct Finding: Sendable, Hashable {
    package enum Severity: String, Sendable {
        /// Almost certainly not what the author of the program intended.
        case problem
        case note
    }

    /// See `Detector`. Set by the diagnosis, as is the rank; nil for a finding of a rule.
    var kind: String?
    var severity = Severity.problem
    /// For example `observer 3 of Saved ran on worker 3 times`.
    var problem: String
    /// Indices of entries; -1 is left out. The first three are shown.
    var evidence: [Int32] = []
    /// Empty for a rule.
    var remedy = ""
    /// How often or how severe. Findings of a detector are sorted by it, largest first.
    var weight = 1
    /// Index in the recording's threads of the thread that causes the problem; -1 if there is none.
    var thread: Int32 = -1
    /// The position of its detector in `Detector.all`.
    var rank = 0
    /// The first notification's name that the detector's evidence has, an index in the recording's strings; -1 if it
    /// has none.
    private(set) var name: Int32 = -1
    /// The rule or the expectation that it breaks.
    private(set) var claim: String?
    /// The lines after the sentence: the evidence and the remedy.
    private(set) var lines: [String] = []
    /// The first source location of the evidence that has a line.
    private(set) var location: SourceLocation?

    static let maximumEvidence = 3

    /// The kind, the rule or the expectation.
    var title: String { claim ?? kind ?? "" }

    /// The problem, with the severity of what a detector found.
    var sentence: String { kind == nil ? problem : "\(severity): \(problem)" }
}

extension Finding {
    /// An expectation that is not fulfilled.
    package init(claim: String, failure: String) { (self.problem, self.claim) = (failure, claim) }

    /// The finding with its lines and its location. Evidence is in the order of the recording, and each record once.
    func described(_ words: RecordWords) -> Finding {
        var finding = self
        // A detector's first record is that of the observer or the post that it accuses.
        finding.name = evidence.lazy.filter { $0 >= 0 }.map { words.index.entry($0).name }.first { $0 >= 0 } ?? -1
        finding.evidence = Set(evidence).filter { $0 >= 0 }.sorted()
        finding.lines =
            finding.evidence.prefix(Self.maximumEvidence).map(words.evidence)
            + (remedy.isEmpty ? [] : ["remedy: \(remedy)"])
        finding.location = finding.evidence.lazy.compactMap(words.sourceLocation).first { $0.line > 0 }
        return finding
    }

    /// The finding as one that breaks a rule.
    func breaking(_ rule: String) -> Finding {
        var finding = self
        (finding.problem, finding.severity, finding.claim) = (sentence, .problem, rule)
        return finding
    }

    /// The fields of a JSON object.
    func object(_ words: RecordWords) -> [String: Any] {
        let fields: [String: Any?] = [
            "evidence": evidence.prefix(Self.maximumEvidence).map(words.evidenceFields), "text": sentence,
            "location": location?.description, "name": name < 0 ? nil : words.recording.strings[Int(name)],
            "kind": kind, "severity": severity.rawValue, "problem": problem, "remedy": remedy.isEmpty ? nil : remedy,
        ]
        return fields.compactMapValues(\.self)
    }
}

extension Finding: Comparable {
    package static func < (one: Finding, other: Finding) -> Bool {
        func order(_ finding: Finding) -> (Int, Int, Int) {
            (finding.severity == .problem ? 0 : 1, finding.rank, -finding.weight)
        }
        if order(one) != order(other) { return order(one) < order(other) }
        return one.evidence.lexicographicallyPrecedes(other.evidence)
    }
}
