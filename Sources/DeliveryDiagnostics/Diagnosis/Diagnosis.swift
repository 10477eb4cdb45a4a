package import DeliveryRecording
internal import ThreadedNotifications

/// The findings of a recording: what is wrong with the program, or worth knowing. Most severe first, one finding for
/// each observer or name.
///
/// Cost: a few passes over the index for each kind of finding, and one for each thread that is flooded or stalled.
package struct Diagnosis: Sendable {
    let evidence: Evidence
    private(set) var findings: [Finding] = []
    package private(set) var acceptedCount = 0
    /// Where a finding is accepted that the recording does not have: `accepted.txt:3: dropped Saved`.
    package private(set) var unusedAccepted: [String] = []
    /// Nil if all records are selected.
    private let selection: RecordingSelection?

    package init(
        _ index: RecordingIndex, limits: DiagnosisLimits = DiagnosisLimits(),
        accepted: AcceptedFindings = AcceptedFindings(), selection: RecordingSelection? = nil
    ) {
        evidence = Evidence(index, limits)
        self.selection = selection?.isEverything == false ? selection : nil
        for (rank, detector) in Detector.all.enumerated() {
            for var finding in detector.find(evidence) {
                (finding.kind, finding.rank) = (detector.kind, rank)
                findings.append(finding)
            }
        }
        removeExplained()
        if let selection = self.selection {
            // Whole programs are diagnosed; findings of other records are hidden.
            findings.removeAll { finding in
                !finding.evidence.contains { $0 >= 0 && selection.contains(index.entry($0)) }
            }
        }
        let count = findings.count
        unusedAccepted = accepted.remove(from: &findings, of: index.recording)
        acceptedCount = count - findings.count
        for number in findings.indices { findings[number].orderEvidence() }
        findings.sort()
    }

    package var hasProblem: Bool { findings.contains { $0.severity == .problem } }

    package var hasFinding: Bool { !findings.isEmpty }

    /// The options that select the notification of the first finding: `["--name", "JobDone"]`; empty if there is none.
    package var firstSelection: [String] {
        guard let name = findings.first?.name, name >= 0 else { return [] }
        return ["--name", evidence.recording.strings[Int(name)]]
    }

    /// What waits for a thread that is stuck, or for a handler that calls itself for ever, is only a consequence.
    private mutating func removeExplained() {
        let endless = findings.filter { $0.kind == .selfPosting && $0.severity == .problem }.map { $0.evidence[0] }
        findings.removeAll { finding in
            finding.kind == .backlog
                && (evidence.stuck.contains(finding.thread)
                    || finding.evidence[0] >= 0 && endless.contains(finding.evidence[0]))
        }
    }

    /// The number of findings of each severity and of those that are accepted, and the sums of the accounts.
    package var totals: String {
        let (index, problems) = (evidence.index, findings.count { $0.severity == .problem })
        let found =
            [(problems, "problem"), (findings.count - problems, "note")].filter { $0.0 > 0 }
            .map { counted($0.0, $0.1) } + (acceptedCount > 0 ? ["\(acceptedCount) accepted"] : [])
        func includes(_ number: Int32) -> Bool { selection?.contains(index.entry(number)) ?? true }
        let accounts = selection == nil ? evidence.accounts : Accounts(index, includes: includes)
        let (blocks, unobserved) = (accounts.sum(.blocks), accounts.sum(.unobserved)[.matched])
        let count = index.posts.count { $0.posted >= 0 && index.isPost($0.posted) && includes($0.posted) }
        let posted = "\(count) posted\(unobserved > 0 ? " (\(unobserved) without an observer)" : "")"
        return [
            found.joined(separator: ", "),
            [posted, accounts.sum(.notifications).words()].filter { !$0.isEmpty }.joined(separator: ", "),
            blocks.words(called: [.matched: blocks[.matched] == 1 ? "block" : "blocks", .delivered: "performed"]),
        ].filter { !$0.isEmpty }.joined(separator: "; ")
    }
}
