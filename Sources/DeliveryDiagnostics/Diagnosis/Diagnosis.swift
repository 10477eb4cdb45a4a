package import DeliveryRecording
internal import ThreadedNotifications

/// The findings of a recording: what is wrong with the program, or worth knowing. Most severe first, one finding for
/// each observer or name.
///
/// Cost: a few passes over the index for each kind of finding, and one for each thread that is flooded or stalled.
package struct Diagnosis: Sendable {
    let evidence: Evidence
    private(set) var findings: [Finding]
    package private(set) var acceptedCount = 0
    /// Where a finding is accepted that the recording does not have: `accepted.txt:3: dropped Saved`.
    package private(set) var unusedAccepted: [String] = []

    package init(
        _ index: RecordingIndex, limits: DiagnosisLimits = DiagnosisLimits(),
        accepted: AcceptedFindings = AcceptedFindings(), selection: RecordingSelection? = nil
    ) {
        evidence = Evidence(index, limits, selection)
        findings = []
        let ranks = Dictionary(uniqueKeysWithValues: Detector.all.enumerated().map { ($1, $0) })
        for var finding in Detector.all.flatMap({ $0.run(evidence) }) {
            finding.rank = ranks[finding.sortedAs ?? finding.kind] ?? 0
            findings.append(finding)
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
        // Evidence is shown in the order of the recording, and each record once.
        for number in findings.indices {
            findings[number].evidence = Set(findings[number].evidence).filter { $0 >= 0 }.sorted()
        }
        findings.sort()
    }

    package var hasProblem: Bool { findings.contains { $0.severity == .problem } }

    package var hasFinding: Bool { !findings.isEmpty }

    /// The options that select the notification of the first finding: `["--name", "JobDone"]`; empty if there is none.
    package var firstSelection: [String] {
        guard let name = findings.first?.name, name >= 0 else { return [] }
        return ["--name", evidence.index.recording.strings[Int(name)]]
    }
}

// MARK: Findings that others explain

extension Diagnosis {
    /// Removes what is only a consequence of another finding.
    private mutating func removeExplained() {
        let index = evidence.index
        // A handler that waits for another thread does not return because of that.
        let waiters = Set(
            findings.filter { $0.kind == .longWait && $0.severity == .problem }
                .map { index.entry($0.evidence[0]).thread })
        findings.removeAll { $0.kind == .handlerNeverReturned && waiters.contains($0.thread) }
        addWaitsToStuckThreads()
        // Notifications waiting for a stuck thread are covered by the finding about the thread.
        let waiting: Set<Finding.Kind> = [.neverDelivered, .backlog]
        let stuck = waiters.union(findings.filter { !waiting.contains($0.kind) && $0.thread >= 0 }.map(\.thread))
        findings.removeAll { waiting.contains($0.kind) && stuck.contains($0.thread) }
        // A thread that continues without draining, by the record that waits for it.
        let ignoring = Set(
            findings.filter { $0.kind == .stalled && $0.evidence[0] >= 0 }.map { index.entry($0.evidence[0]) }
                .filter { $0.stage == .append }.map(\.target))
        findings.removeAll { $0.kind == .backlog && ignoring.contains($0.thread) }
        func processAndName(_ finding: Finding) -> UInt64 {
            indexPair(Int32(index.recording.process(of: index.entry(finding.evidence[0]))), finding.name)
        }
        let enqueued = Set(findings.filter { $0.kind == .enqueuedNeverPosted }.map(processAndName))
        findings.removeAll { $0.isCalled("nameNeverPosted") && enqueued.contains(processAndName($0)) }
        // One finding for each observer.
        func observer(_ finding: Finding) -> Int32? {
            finding.evidence.lazy.filter { $0 >= 0 }.map { index.entry($0).observer }.first { $0 >= 0 }
        }
        let covered = Set(
            findings.filter { $0.kind == .neverDelivered || $0.kind == .selfPosting && $0.severity == .problem }
                .compactMap(observer))
        findings.removeAll { $0.kind == .backlog && observer($0).map(covered.contains) == true }
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
        while let thread = threads.popLast() {
            guard let number = reported[thread] else { continue }
            for wait in waits[thread] ?? [] {
                let (begin, waiter) = (wait.evidence[0], evidence.index.entry(wait.evidence[0]).thread)
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
}

// MARK: Totals

extension Diagnosis {
    /// The number of findings of each severity and of those that are accepted, and the sums of the accounts. Only what has an outcome is accounted for.
    package var totals: String {
        let (index, accounts) = (evidence.index, evidence.accounts)
        let problems = findings.count { $0.severity == .problem }
        let found =
            [(problems, "problem"), (findings.count - problems, "note")].filter { $0.0 > 0 }
            .map { counted($0.0, $0.1) } + (acceptedCount > 0 ? ["\(acceptedCount) accepted"] : [])
        let (blocks, unobserved) = (accounts.sum(.blocks), accounts.sum(.unobserved)[.matched])
        let posted = "\(evidence.postCount) posted\(unobserved > 0 ? " (\(unobserved) without an observer)" : "")"
        return [
            found.joined(separator: ", "),
            [posted, accounts.sum(.notifications).words()].filter { !$0.isEmpty }.joined(separator: ", "),
            blocks.words(called: [.matched: blocks[.matched] == 1 ? "block" : "blocks", .delivered: "performed"]),
            accounted(index, accounts),
        ].filter { !$0.isEmpty }.joined(separator: "; ")
    }

    private func accounted(_ index: RecordingIndex, _ accounts: Accounts) -> String {
        for (isCertain, words) in [(true, "fault"), (false, "possible fault")] {
            let count = evidence.faults.reduce(0) { $0 + ($1.isCertain == isCertain ? $1.count : 0) }
            if count > 0 { return counted(count, words) }
        }
        let recording = index.recording
        guard recording.completeness.allSatisfy(\.isComplete), !recording.entries.isEmpty else { return "" }
        let isPending = accounts.all.contains { $0.counts[.pending] > 0 }
        // A post to a Foundation center may wait for ever.
        let isUnfinished = index.posts.contains {
            $0.isUnfinished && $0.posted >= 0 && index.entry($0.posted).isFoundation
        }
        return isPending || isUnfinished ? "all others accounted for" : "all accounted for"
    }
}
