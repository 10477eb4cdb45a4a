internal import DeliveryRecording
internal import ThreadedNotifications

/// Formats a diagnosis as text and as JSON.
package struct DiagnosisReport {
    /// A line and its role. The caller chooses a color for each role.
    package struct Line: Sendable, Hashable {
        package enum Role: Sendable, Hashable {
            case problem
            case note
            case rest
        }

        package var text: String
        package var role: Role
    }

    /// The number of findings in the text.
    package static let maximumReported = 20
    /// The number of findings in the JSON document.
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
        guard !diagnosis.findings.isEmpty else { return [Line(text: "no findings", role: .rest)] }
        var lines: [Line] = []
        for (number, finding) in diagnosis.findings.prefix(Self.maximumReported).enumerated() {
            if number > 0 { lines.append(Line(text: "", role: .rest)) }
            let problem = "\(finding.severity.rawValue): \(finding.problem)"
            lines += WrappedText.lines(problem, width: width)
                .map { Line(text: $0, role: finding.severity == .problem ? .problem : .note) }
            let rest =
                finding.evidence.prefix(Self.maximumEvidence).map(words.evidence) + finding.details
                + ["remedy: \(finding.remedy)"]
            lines += rest.flatMap { WrappedText.lines($0, width: width, indent: "  ", hanging: 2) }
                .map { Line(text: $0, role: .rest) }
        }
        let more = diagnosis.findings.count - Self.maximumReported
        if more > 0 { lines += [Line(text: "", role: .rest), Line(text: "and \(more) more", role: .rest)] }
        return lines
    }

    /// One JSON document with sorted keys.
    package func json() throws -> String {
        try JSONText.of([
            "file": diagnosis.index.recording.source, "hasProblem": diagnosis.hasProblem,
            "findingCount": diagnosis.findings.count, "acceptedCount": diagnosis.acceptedCount,
            "findings": diagnosis.findings.prefix(Self.maximumEncoded).map { finding in
                var object: [String: Any] = [
                    "kind": finding.kind.rawValue, "severity": finding.severity.rawValue, "problem": finding.problem,
                    "evidence": finding.evidence.prefix(Self.maximumEvidence).map(evidence),
                    "details": finding.details, "remedy": finding.remedy,
                ]
                if finding.name >= 0 { object["notification"] = diagnosis.index.recording.strings[Int(finding.name)] }
                return object
            },
        ])
    }

    private func evidence(_ number: Int32) -> [String: Any] {
        let (recording, entry) = (diagnosis.index.recording, diagnosis.index.entry(number))
        var object: [String: Any] = [
            "line": Int(entry.line), "nanoseconds": Int(recording.elapsed(entry)),
            "thread": recording.describeThread(entry.thread), "stage": entry.stage.rawValue,
            "text": words.evidence(number),
        ]
        if entry.post >= 0 { object["post"] = recording.posts[Int(entry.post)].number }
        if entry.observer >= 0 { object["observer"] = recording.observers[Int(entry.observer)].number }
        if let name = recording.name(of: entry) { object["notification"] = name }
        return object
    }
}
