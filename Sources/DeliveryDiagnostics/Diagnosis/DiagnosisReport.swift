internal import DeliveryRecording

/// Formats a diagnosis as text and as JSON.
package struct DiagnosisReport {
    /// A line, and whether it states a problem. The caller chooses a color for problems.
    package typealias Line = (text: String, isProblem: Bool)

    package static let maximumReported = 20
    package static let maximumEncoded = 1000
    private static let maximumEvidence = 3

    private let diagnosis: Diagnosis
    private let words: RecordWords

    package init(_ diagnosis: Diagnosis) {
        self.diagnosis = diagnosis
        words = RecordWords(diagnosis.index)
    }

    /// Lines of at most `width` characters, unless a single word is longer.
    package func text(width: Int = .max) -> [Line] {
        guard !diagnosis.findings.isEmpty else { return [("no findings", false)] }
        var lines: [Line] = []
        for (number, finding) in diagnosis.findings.prefix(Self.maximumReported).enumerated() {
            if number > 0 { lines.append(("", false)) }
            lines += WrappedText.lines("\(finding.severity.rawValue): \(finding.problem)", width: width)
                .map { ($0, finding.severity == .problem) }
            let rest =
                finding.evidence.prefix(Self.maximumEvidence).map(words.evidence) + finding.details
                + ["remedy: \(finding.remedy)"]
            lines += rest.flatMap { WrappedText.lines($0, width: width, indent: "  ", hanging: 2) }
                .map { ($0, false) }
        }
        let more = diagnosis.findings.count - Self.maximumReported
        if more > 0 { lines += [("", false), ("and \(more) more", false)] }
        return lines
    }

    /// One JSON document with sorted keys.
    package func json() throws -> String {
        try JSONText.of([
            "source": diagnosis.index.recording.source, "hasProblem": diagnosis.hasProblem,
            "findingCount": diagnosis.findings.count, "acceptedCount": diagnosis.acceptedCount,
            "findings": diagnosis.findings.prefix(Self.maximumEncoded).map { finding in
                var object: [String: Any] = [
                    "kind": finding.kind.rawValue, "severity": finding.severity.rawValue, "problem": finding.problem,
                    "evidence": finding.evidence.prefix(Self.maximumEvidence).map(words.evidenceFields),
                    "details": finding.details, "remedy": finding.remedy,
                ]
                if finding.name >= 0 { object["name"] = diagnosis.index.recording.strings[Int(finding.name)] }
                return object
            },
        ])
    }
}
