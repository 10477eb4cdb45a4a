internal import ThreadedNotifications

/// What a recording shows to be wrong with the program, or worth knowing: worst first, one finding for each observer or name.
///
/// Cost: some passes over the records, for each kind one or two.
public struct Diagnosis: Sendable {
    let index: DeliveryIndex
    let findings: [Finding]

    public init(_ recording: Recording, limits: DiagnosisLimits = DiagnosisLimits()) {
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
        // What waits for a thread that does nothing is told of once, as the thread's.
        let stuck = Set(findings.filter { $0.kind != .neverDelivered && $0.thread >= 0 }.map(\.thread))
        findings.removeAll { $0.kind == .neverDelivered && stuck.contains($0.thread) }
        // In the order in which it happened, and each record once.
        for place in findings.indices { findings[place].evidence = Set(findings[place].evidence).sorted() }
        self.findings = findings.sorted()
    }

    /// Whether something is wrong, and not only worth knowing.
    public var hasProblem: Bool { findings.contains { $0.severity == .problem } }
}
