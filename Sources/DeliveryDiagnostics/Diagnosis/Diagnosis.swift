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

    package init(
        _ index: RecordingIndex, limits: DiagnosisLimits = DiagnosisLimits(),
        accepted: AcceptedFindings = AcceptedFindings(), selection: RecordingSelection? = nil
    ) {
        evidence = Evidence(index, limits, selection)
        var rank = 0
        for (before, detector) in zip([nil] + Detector.all.map(\.kind), Detector.all) {
            // Detectors of one kind that follow each other have one rank.
            rank += before == detector.kind ? 0 : 1
            for var finding in detector.find(evidence) {
                (finding.kind, finding.rank, finding.formerKind) = (detector.kind, rank, detector.formerName)
                findings.append(finding)
            }
        }
        removeExplained()
        if let selection, !selection.isEverything {
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

    // MARK: Findings that others explain

    /// Removes what is only a consequence of another finding.
    private mutating func removeExplained() {
        let index = evidence.index
        func entry(_ finding: Finding) -> Recording.Entry { index.entry(finding.evidence[0]) }
        /// Removes findings of some kinds, of which another finding has the same of something.
        func remove<Value: Hashable>(
            _ kinds: Set<Finding.Kind>, of value: (Finding) -> Value?, _ others: (Finding) -> Value?
        ) {
            let explained = Set(findings.compactMap(others))
            findings.removeAll { kinds.contains($0.kind) && value($0).map(explained.contains) == true }
        }
        func waiter(_ finding: Finding) -> Int32? {
            finding.kind == .longWait && finding.severity == .problem ? entry(finding).thread : nil
        }
        let waiters = Set(findings.compactMap(waiter))
        // A handler that waits for another thread does not return because of that.
        remove([.handlerNeverReturned], of: \.thread, waiter)
        addWaitsToStuckThreads()
        // Notifications waiting for a stuck thread are covered by the finding about the thread.
        let waiting: Set<Finding.Kind> = [.neverDelivered, .backlog]
        findings.removeAll { waiting.contains($0.kind) && waiters.contains($0.thread) }
        remove(waiting, of: \.thread) { waiting.contains($0.kind) || $0.thread < 0 ? nil : $0.thread }
        // A thread that continues without draining, by the record that waits for it.
        remove([.backlog], of: \.thread) { finding in
            finding.kind == .stalled && finding.evidence[0] >= 0 && entry(finding).stage == .append
                ? entry(finding).target : nil
        }
        func processAndName(_ finding: Finding) -> [Int32] {
            [Int32(index.recording.process(of: entry(finding))), finding.name]
        }
        func neverPosted(_ finding: Finding) -> [Int32]? {
            finding.formerKind == "nameNeverPosted" ? processAndName(finding) : nil
        }
        remove([.unmatchedName], of: neverPosted) { $0.kind == .enqueuedNeverPosted ? processAndName($0) : nil }
        // One finding for each observer.
        func observer(_ finding: Finding) -> Int32? {
            finding.evidence.lazy.filter { $0 >= 0 }.map { index.entry($0).observer }.first { $0 >= 0 }
        }
        remove([.backlog], of: observer) {
            $0.kind == .neverDelivered || $0.kind == .selfPosting && $0.severity == .problem ? observer($0) : nil
        }
    }

    /// A wait for a stuck thread is evidence of the finding about that thread, and so is a wait for a thread that waits
    /// for it.
    private mutating func addWaitsToStuckThreads() {
        var covered: Set<Int32> = []
        /// By thread: the finding that explains why it is stuck.
        var reported: [Int32: Int] = [:]
        for (number, finding) in findings.enumerated() where finding.thread >= 0 {
            if [.handlerNeverReturned, .stalled].contains(finding.kind) { reported[finding.thread] = number }
        }
        let waits = Dictionary(grouping: findings.filter { $0.kind == .longWait && $0.thread >= 0 }, by: \.thread)
        var threads = Array(reported.keys)
        while let thread = threads.popLast(), let number = reported[thread] {
            for begin in waits[thread, default: []].map({ $0.evidence[0] }) {
                let waiter = evidence.index.entry(begin).thread
                findings[number].evidence.append(begin)
                findings[number].severity = .problem
                covered.insert(begin)
                guard reported[waiter] == nil else { continue }
                reported[waiter] = number
                threads.append(waiter)
            }
        }
        findings.removeAll { $0.kind == .longWait && covered.contains($0.evidence[0]) }
    }

    // MARK: Totals

    /// The number of findings of each severity and of those that are accepted, and the sums of the accounts. Only what
    /// has an outcome is accounted for.
    package var totals: String {
        let (accounts, problems) = (evidence.accounts, findings.count { $0.severity == .problem })
        let found =
            [(problems, "problem"), (findings.count - problems, "note")].filter { $0.0 > 0 }
            .map { counted($0.0, $0.1) } + (acceptedCount > 0 ? ["\(acceptedCount) accepted"] : [])
        let (blocks, unobserved) = (accounts.sum(.blocks), accounts.sum(.unobserved)[.matched])
        let posted = "\(evidence.postCount) posted\(unobserved > 0 ? " (\(unobserved) without an observer)" : "")"
        return [
            found.joined(separator: ", "),
            [posted, accounts.sum(.notifications).words()].filter { !$0.isEmpty }.joined(separator: ", "),
            blocks.words(called: [.matched: blocks[.matched] == 1 ? "block" : "blocks", .delivered: "performed"]),
            accounted,
        ].filter { !$0.isEmpty }.joined(separator: "; ")
    }

    private var accounted: String {
        for (isCertain, words) in [(true, "fault"), (false, "possible fault")] {
            let count = evidence.faults.reduce(0) { $0 + ($1.isCertain == isCertain ? $1.count : 0) }
            if count > 0 { return counted(count, words) }
        }
        let (index, recording) = (evidence.index, evidence.recording)
        guard recording.completeness.allSatisfy(\.isComplete), !recording.entries.isEmpty else { return "" }
        // A post to a Foundation center may wait for ever.
        let isOpen =
            evidence.accounts.all.contains { $0.counts[.pending] > 0 }
            || index.posts.contains { $0.isUnfinished && $0.posted >= 0 && index.entry($0.posted).isFoundation }
        return isOpen ? "all others accounted for" : "all accounted for"
    }
}
