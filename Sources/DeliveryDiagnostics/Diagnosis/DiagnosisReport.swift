internal import DeliveryRecording
internal import TerminalText

/// Formats a diagnosis as text and as JSON.
package struct DiagnosisReport {
    /// A line, and whether it states a problem. The caller chooses a color for problems.
    package typealias Line = (text: String, isProblem: Bool)

    package static let maximumReported = 20
    package static let maximumEncoded = 1000

    private let diagnosis: Diagnosis
    private var words: RecordWords { diagnosis.evidence.words }

    package init(_ diagnosis: Diagnosis) { self.diagnosis = diagnosis }

    /// Lines of at most `width` characters, unless a single word is longer.
    package func text(width: Int = .max) -> [Line] {
        guard !diagnosis.findings.isEmpty else { return [("no findings", false)] }
        var lines: [Line] = []
        for (number, finding) in diagnosis.findings.prefix(Self.maximumReported).enumerated() {
            if number > 0 { lines.append(("", false)) }
            lines += WrappedText.lines(finding.sentence, width: width).map { ($0, finding.severity == .problem) }
            lines += finding.lines(words).flatMap { WrappedText.lines($0, width: width, indent: "  ", hanging: 2) }
                .map { ($0, false) }
        }
        let more = diagnosis.findings.count - Self.maximumReported
        if more > 0 { lines += [("", false), ("and \(more) more", false)] }
        return lines
    }

    package var findings: [ReportedFinding] { diagnosis.findings.map { $0.reported(words) } }

    /// One JSON document with sorted keys.
    package func json() throws -> String {
        try JSONText.of([
            "source": words.recording.source, "hasProblem": diagnosis.hasProblem,
            "findingCount": diagnosis.findings.count, "acceptedCount": diagnosis.acceptedCount,
            "findings": diagnosis.findings.prefix(Self.maximumEncoded).map { $0.object(words) },
        ])
    }

    /// The kinds of findings as one JSON document with sorted keys.
    package static func kindsJSON(_ limits: DiagnosisLimits) throws -> String {
        try JSONText.of([
            "kinds": Finding.Kind.all.map { kind in
                ["kind": kind.name, "meaning": kind.meaning, "limits": kind.limits.map(limits.text)] as [String: Any]
            }
        ])
    }

    /// A line for each kind of finding: what it means, and the limits that decide.
    package static func kinds(_ limits: DiagnosisLimits, width: Int) -> [String] {
        Table(
            [.text("kind"), .wrapped("meaning and limits")],
            rows: Finding.Kind.all.map { kind in
                let limits = kind.limits.map(limits.text).joined(separator: ", ")
                return [kind.name, kind.meaning + (limits.isEmpty ? "" : " (\(limits))")]
            }
        ).lines(width: width)
    }
}
