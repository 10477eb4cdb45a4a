internal import DeliveryRecording

extension Detector {
    /// Reports that a process forked, and whether the recording has its copies.
    static let fork = Detector("fork", "the process forked") { evidence in
        let (index, processes) = (evidence.index, evidence.recording.processes)
        let forks = index.records(of: .fork)
        guard let first = forks.first else { return [] }
        // A copy has its program's name, and may record before the program records the fork: it begins after the
        // thread's record before that.
        let before = index.before[Int(first)] < 0 ? first : index.before[Int(first)]
        let forked = evidence.recording.process(of: index.entry(first))
        let later = Set(
            index.threads.indices.filter { index.threads[$0].first > before }.map(Int32.init)
                .map(evidence.process)
        ).filter { $0 != forked && processes[$0].name == processes[forked].name }
        let copies =
            later.isEmpty
            ? "no copy is in this recording"
            : "this recording also has \(counted(later.count, "later process", plural: "later processes")) of its name"
        return [
            Finding(
                severity: .note, problem: "The process forked \(evidence.words.times(forks.count)); \(copies).",
                evidence: [first],
                remedy: "Call exec after fork, as Process does: a copy has only one thread and no run loop.",
                weight: forks.count)
        ]
    }
}
