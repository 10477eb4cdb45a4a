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
    private let words: DiagnosisWords

    package init(_ diagnosis: Diagnosis) {
        self.diagnosis = diagnosis
        words = DiagnosisWords(diagnosis.index)
    }

    /// Lines of at most `width` characters, unless a single word is longer.
    package func text(width: Int = .max) -> [Line] {
        guard !diagnosis.findings.isEmpty else { return [Line(text: "no findings", role: .rest)] }
        var lines: [Line] = []
        for (number, finding) in diagnosis.findings.prefix(Self.maximumReported).enumerated() {
            if number > 0 { lines.append(Line(text: "", role: .rest)) }
            let isProblem = finding.severity == .problem
            let problem = WrappedText.lines(
                "\(isProblem ? "problem" : "note"): \(finding.problem)", width: width, indent: "")
            lines += problem.map { Line(text: $0, role: isProblem ? .problem : .note) }
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
        let findings = diagnosis.findings.prefix(Self.maximumEncoded).map { finding in
            Document.Finding(
                kind: finding.kind.rawValue, severity: finding.severity.rawValue, problem: finding.problem,
                evidence: finding.evidence.prefix(Self.maximumEvidence).map(evidence), details: finding.details,
                remedy: finding.remedy)
        }
        let document = Document(
            file: diagnosis.index.recording.source, hasProblem: diagnosis.hasProblem,
            findingCount: diagnosis.findings.count, findings: findings)
        return try JSONText.of(document)
    }

    private func evidence(_ entryIndex: Int32) -> Document.Evidence {
        let recording = diagnosis.index.recording
        let entry = recording.entries[Int(entryIndex)]
        return Document.Evidence(
            line: entry.line, nanoseconds: recording.elapsed(entry), thread: recording.describeThread(entry.thread),
            stage: entry.stage.rawValue, post: entry.post < 0 ? nil : recording.posts[Int(entry.post)].number,
            observer: entry.observer < 0 ? nil : recording.observers[Int(entry.observer)].number,
            notification: recording.name(of: entry), text: words.evidence(entryIndex))
    }

    private struct Document: Encodable {
        struct Finding: Encodable {
            var kind: String
            var severity: String
            var problem: String
            var evidence: [Evidence]
            var details: [String]
            var remedy: String
        }

        struct Evidence: Encodable {
            var line: Int32
            /// Since the first record.
            var nanoseconds: Int64
            var thread: String
            var stage: String
            var post: Int?
            var observer: Int?
            var notification: String?
            var text: String
        }

        var file: String
        var hasProblem: Bool
        var findingCount: Int
        var findings: [Finding]
    }
}
