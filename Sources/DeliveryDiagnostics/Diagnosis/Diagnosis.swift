package import DeliveryRecording
internal import ThreadedNotifications

/// The findings of a recording: what is wrong with the program, or worth knowing. Most severe first, one finding for
/// each observer or name.
///
/// Cost: one or two passes over the index for each kind of finding.
package struct Diagnosis: Sendable {
    let index: RecordingIndex
    private(set) var findings: [Finding]
    /// The audit of the same recording.
    package let audit: Audit
    /// The number of findings that were accepted.
    package private(set) var acceptedCount = 0

    package init(
        _ index: RecordingIndex, limits: DiagnosisLimits = DiagnosisLimits(),
        accepted: AcceptedFindings = AcceptedFindings(), selection: RecordingSelection? = nil
    ) {
        self.index = index
        audit = Audit(index, selection: selection)
        var findings = Unaccounted.findings(audit)
        findings += WrongThread.findings(index)
        findings += SeveralThreads.findings(audit)
        findings += MainHeldUp.findings(index, limits)
        findings += PostedUnobserved.findings(index)
        findings += DeliveredAfterRemoval.findings(index)
        findings += NeverDelivered.findings(index)
        findings += RemovedAtOnce.findings(index)
        findings += Overtaking.findings(index)
        findings += Flood.findings(index, limits)
        findings += SelfPosting.findings(index, limits)
        findings += Stall.findings(index, limits)
        findings += WaitCycle.findings(index)
        findings += WaitTimedOut.findings(index)
        findings += DroppedByPolicy.findings(index)
        findings += TargetGone.findings(index)
        findings += RecordingEnd.findings(index)
        // Notifications waiting for a stuck thread are covered by the finding about the thread.
        let stuck = Set(findings.filter { $0.kind != .neverDelivered && $0.thread >= 0 }.map(\.thread))
        findings.removeAll { $0.kind == .neverDelivered && stuck.contains($0.thread) }
        if let selection {
            // Whole programs are diagnosed; findings of other records are hidden.
            findings.removeAll { finding in
                !finding.evidence.contains { $0 >= 0 && selection.contains(index.entry($0)) }
            }
        }
        let count = findings.count
        findings.removeAll { accepted.accepts($0, in: index.recording) }
        acceptedCount = count - findings.count
        // Evidence is shown in the order of the recording, and each record once.
        for number in findings.indices {
            findings[number].evidence = Set(findings[number].evidence).filter { $0 >= 0 }.sorted()
        }
        self.findings = findings.sorted()
    }

    package init(
        _ recording: Recording, limits: DiagnosisLimits = DiagnosisLimits(),
        accepted: AcceptedFindings = AcceptedFindings(), selection: RecordingSelection? = nil
    ) {
        self.init(RecordingIndex(recording), limits: limits, accepted: accepted, selection: selection)
    }

    /// True if any finding is a problem rather than a note.
    package var hasProblem: Bool { findings.contains { $0.severity == .problem } }

    /// The notification of the first finding that has one.
    package var firstName: String? {
        findings.first { $0.name >= 0 }.map { index.recording.strings[Int($0.name)] }
    }

    /// True if there is any finding.
    package var hasFinding: Bool { !findings.isEmpty }

    /// The sums of the audit in one line: `12 posted, 12 delivered, 2 blocks; no faults`.
    package var totals: String {
        var sum = AuditCounters()
        for line in audit.lines { sum += line.counts }
        let outcomes = AuditCounters.all.filter { $0.name == "posted" || sum[keyPath: $0.counter] > 0 }.map {
            "\(sum[keyPath: $0.counter]) \($0.name)"
        }
        let unobserved = audit.unobserved.reduce(0) { $0 + $1.count }
        let blocks = audit.blocks.reduce(0) { $0 + $1.counts.posted }
        let others = [(unobserved, "without an observer"), (blocks, blocks == 1 ? "block" : "blocks")]
        let faults = audit.addsUp ? "no faults" : counted(audit.faults.count, "fault")
        return (outcomes + others.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }).joined(separator: ", ") + "; " + faults
    }
}
