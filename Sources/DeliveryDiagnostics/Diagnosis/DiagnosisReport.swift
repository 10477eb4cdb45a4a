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
        let shown = diagnosis.findings.prefix(Self.maximumReported).map { finding -> [Line] in
            WrappedText.lines(finding.sentence, width: width).map { ($0, finding.severity == .problem) }
                + finding.lines(words).flatMap { WrappedText.lines($0, width: width, indent: "  ", hanging: 2) }
                .map { ($0, false) }
        }
        let more = diagnosis.findings.count - shown.count
        return Array((shown + (more > 0 ? [[("and \(more) more", false)]] : [])).joined(separator: [("", false)]))
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

    // MARK: Kinds

    private static func limits(of kind: Finding.Kind, _ limits: DiagnosisLimits) -> [String] {
        Detector.all.filter { $0.kind == kind }.flatMap(\.limits).map(limits.text)
            .reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// The kinds of findings as one JSON document with sorted keys.
    package static func kindsJSON(_ limits: DiagnosisLimits) throws -> String {
        try JSONText.of([
            "kinds": Finding.Kind.all.map { kind in
                ["kind": kind.name, "meaning": kind.rawValue, "limits": self.limits(of: kind, limits)] as [String: Any]
            }
        ])
    }

    /// A line for each kind of finding: what it means, and the limits that decide.
    package static func kinds(_ limits: DiagnosisLimits, width: Int) -> [String] {
        Table(
            [.text("kind"), .wrapped("meaning and limits")],
            rows: Finding.Kind.all.map { kind in
                let limits = self.limits(of: kind, limits).joined(separator: ", ")
                return [kind.name, kind.rawValue + (limits.isEmpty ? "" : " (\(limits))")]
            }
        ).lines(width: width)
    }
}
