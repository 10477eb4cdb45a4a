package import DeliveryRecording
package import TerminalText
internal import ThreadedNotifications

/// The findings of a recording: what is wrong with the program, or worth knowing. Most severe first.
///
/// Cost: a few passes over the index for each kind of finding, and one for each thread that is flooded or stalled.
package struct Diagnosis: Sendable {
    let evidence: Evidence
    package private(set) var findings: [Finding] = []
    package private(set) var acceptedCount = 0
    /// Where a finding is accepted that the recording does not have: `accepted.txt:3: dropped Saved`.
    package private(set) var unusedAccepted: [String] = []

    /// - Parameter selection: Whole programs are diagnosed; findings of other records are hidden.
    package init(
        _ index: RecordingIndex, limits: DiagnosisLimits = .usual,
        accepted: AcceptedFindings = AcceptedFindings(), selection: RecordingSelection? = nil
    ) {
        evidence = Evidence(index, limits)
        for (rank, detector) in Detector.all.enumerated() {
            for var finding in detector.find(evidence) {
                (finding.kind, finding.rank) = (detector.kind, rank)
                findings.append(finding.described(evidence.words))
            }
        }
        removeExplained()
        if let selection, !selection.isEverything {
            findings.removeAll { !$0.evidence.contains { selection.contains(index.entry($0)) } }
        }
        let count = findings.count
        unusedAccepted = accepted.remove(from: &findings, of: index.recording)
        acceptedCount = count - findings.count
        findings.sort()
    }

    /// What waits for a thread that is stuck, or for a handler that calls itself for ever, is only a consequence.
    private mutating func removeExplained() {
        let endless = findings.filter { $0.kind == "selfPosting" && $0.severity == .problem }.map { $0.evidence[0] }
        findings.removeAll { finding in
            finding.kind == "backlog"
                && (evidence.stuck.contains(finding.thread) || finding.evidence.first.map(endless.contains) == true)
        }
    }

    package var hasProblem: Bool { findings.contains { $0.severity == .problem } }

    /// The notification of the first finding.
    package var firstName: String? {
        findings.first.flatMap { $0.name < 0 ? nil : evidence.recording.strings[Int($0.name)] }
    }

    // MARK: Reports

    /// The number of findings of each severity and of those that are accepted: `1 problem, 2 notes`.
    package var totals: String {
        let problems = findings.count { $0.severity == .problem }
        let counts =
            [(problems, "problem"), (findings.count - problems, "note")].filter { $0.0 > 0 }
            .map { counted($0.0, $0.1) } + (acceptedCount > 0 ? ["\(acceptedCount) accepted"] : [])
        return counts.isEmpty ? "no findings" : counts.joined(separator: ", ")
    }

    /// Lines of at most `width` characters, unless a single word is longer: the first 20 findings. The first line of a
    /// finding begins with its severity, the others of it with a space.
    package func text(width: Int = .max, palette: Palette = Palette(isColored: false)) -> [String] {
        let shown = findings.prefix(20).flatMap { finding in
            WrappedText.lines(finding.sentence, width: width, hanging: 2)
                .map(finding.severity == .problem ? palette.bad : palette.plain)
                + finding.lines.flatMap { WrappedText.lines(palette.plain($0), width: width, indent: "  ", hanging: 2) }
                + [""]
        }
        return shown + (findings.count > 20 ? ["and \(findings.count - 20) more", ""] : [])
    }

    /// One JSON document with sorted keys, and the first 1000 findings.
    package func json() throws -> String {
        try JSONText.of([
            "source": evidence.recording.source, "hasProblem": hasProblem, "findingCount": findings.count,
            "acceptedCount": acceptedCount, "findings": findings.prefix(1000).map { $0.object(evidence.words) },
        ])
    }

    /// A line for each kind of finding: what it means, and the limits that decide.
    package static func kinds(width: Int) -> [String] {
        let rows = Detector.all.map { [$0.kind, $0.meaning] }
        return Table([.text("kind"), .wrapped("meaning and limits")], rows: rows).lines(width: width)
    }
}
