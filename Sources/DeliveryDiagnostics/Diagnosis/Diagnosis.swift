package import DeliveryRecording
internal import ThreadedNotifications

/// The findings of a recording: what is wrong with the program, or worth knowing. Most severe first, one finding for
/// each observer or name.
///
/// Cost: one or two passes over the records for each kind of finding.
package struct Diagnosis: Sendable {
    let index: DeliveryIndex
    let findings: [Finding]

    package init(_ recording: Recording, limits: DiagnosisLimits = DiagnosisLimits()) {
        let index = DeliveryIndex(recording)
        self.index = index
        var findings = Unaccounted.findings(Audit(index), index)
        findings += WrongThread.findings(index)
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
        findings += DroppedByPolicy.findings(index)
        findings += TargetGone.findings(index)
        findings += RecordingEnd.findings(index)
        // Notifications waiting for a stuck thread are covered by the finding about the thread.
        let stuck = Set(findings.filter { $0.kind != .neverDelivered && $0.thread >= 0 }.map(\.thread))
        findings.removeAll { $0.kind == .neverDelivered && stuck.contains($0.thread) }
        // Evidence is shown in the order of the recording, and each record once.
        for number in findings.indices { findings[number].evidence = Set(findings[number].evidence).sorted() }
        self.findings = findings.sorted()
    }

    /// True if any finding is a problem rather than a note.
    package var hasProblem: Bool { findings.contains { $0.severity == .problem } }
}
