package import DeliveryRecording
internal import ThreadedNotifications

/// The findings of a recording: what is wrong with the program, or worth knowing. Most severe first, one finding for
/// each observer or name.
///
/// Cost: a few passes over the index for each kind of finding, and one for each thread that is flooded or stalled.
package struct Diagnosis: Sendable {
    let index: RecordingIndex
    private(set) var findings: [Finding]
    let audit: Audit
    package private(set) var acceptedCount = 0

    package init(
        _ index: RecordingIndex, limits: DiagnosisLimits = DiagnosisLimits(),
        accepted: AcceptedFindings = AcceptedFindings(), selection: RecordingSelection? = nil
    ) {
        self.index = index
        audit = Audit(index, selection: selection)
        let words = RecordWords(index)
        let (histories, matches) = (NameHistory.all(index), ObserverMatches.all(index))
        var findings = Unaccounted.findings(audit, words)
        findings += WrongThread.findings(words)
        findings += SeveralThreads.findings(words)
        findings += MainHeldUp.findings(words, limits)
        findings += PostedUnobserved.findings(histories, words)
        findings += DeliveredAfterRemoval.findings(words)
        findings += RemovedTwice.findings(words)
        findings += NeverRemoved.findings(words)
        findings += QueueBlocksPoster.findings(words, limits)
        findings += AnyNameObserver.findings(words)
        findings += EnqueuedNeverPosted.findings(words, limits)
        findings += NeverDelivered.findings(histories, matches, words)
        findings += NameNeverPosted.findings(histories, words)
        findings += RemovedBeforePost.findings(histories, matches, words)
        findings += Overtaking.findings(words)
        findings += Flood.findings(words, limits)
        findings += SelfPosting.findings(words, limits)
        findings += Stall.findings(words, limits)
        findings += WaitCycle.findings(words)
        findings += WaitTimedOut.findings(words)
        findings += DroppedByPolicy.findings(matches, words)
        findings += TargetGone.findings(words)
        findings += RecordingEnd.findings(words)
        // Notifications waiting for a stuck thread are covered by the finding about the thread.
        let stuck = Set(findings.filter { $0.kind != .neverDelivered && $0.thread >= 0 }.map(\.thread))
        findings.removeAll { $0.kind == .neverDelivered && stuck.contains($0.thread) }
        if let selection, !selection.isEverything {
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

    package var hasProblem: Bool { findings.contains { $0.severity == .problem } }

    package var hasFinding: Bool { !findings.isEmpty }

    /// The options that select the notification of the first finding: `["--name", "JobDone"]`; empty if there is none.
    package var firstSelection: [String] {
        guard let name = findings.first?.name, name >= 0 else { return [] }
        return ["--name", index.recording.strings[Int(name)]]
    }

    /// The number of findings of each severity, and the audit's sums in one line.
    package var totals: String {
        let problems = findings.count { $0.severity == .problem }
        let found = [(problems, "problem"), (findings.count - problems, "note")].filter { $0.0 > 0 }
            .map { counted($0.0, $0.1) }.joined(separator: ", ")
        func sums(_ table: Audit.Table, _ words: [AuditCount: String]) -> String {
            let sum = audit.sum(table)
            return AuditCount.allCases.filter { sum[$0] > 0 }.map { "\(sum[$0]) \(words[$0] ?? $0.words)" }
                .joined(separator: ", ")
        }
        let unobserved = audit.sum(.unobserved)[.matched]
        let posts = "\(audit.postCount) posted\(unobserved > 0 ? " (\(unobserved) without an observer)" : "")"
        let blocks = audit.sum(.blocks)[.matched] == 1 ? "block" : "blocks"
        return [
            found, [posts, sums(.notifications, [:])].filter { !$0.isEmpty }.joined(separator: ", "),
            sums(.blocks, [.matched: blocks, .delivered: "performed"]),
            audit.addsUp ? "all accounted for" : counted(audit.faults.count, "audit fault"),
        ].filter { !$0.isEmpty }.joined(separator: "; ")
    }
}
