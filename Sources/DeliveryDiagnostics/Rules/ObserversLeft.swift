internal import DeliveryRecording

/// `no observer left at exit`: observers that were added and not removed.
struct ObserversLeft {
    private let rule: Rule
    private let words: RecordWords

    init(_ rule: Rule, _ words: RecordWords) { (self.rule, self.words) = (rule, words) }

    func result() -> RuleResult {
        let (index, recording) = (words.index, words.recording)
        if let process = recording.completeness.firstIndex(where: { $0 != .complete }) {
            let ofProcess = recording.processes.count > 1 ? " of process \(recording.processes[process].id)" : ""
            let how = recording.completeness[process].isComplete ? "ended without notice" : "is truncated"
            return RuleResult(
                rule, fails: "the recording\(ofProcess) \(how): it does not say which observers were left at exit"
            )
        }
        // Foundation keeps observers of its own.
        let added = index.observers.indices.filter { observer in
            let registered = index.observers[observer].registered
            return registered >= 0 && !words.isCalledByFoundation(registered)
        }
        let left = added.filter { index.observers[$0].removed < 0 }.map(Int32.init)
        let isStopped = index.processes.contains { $0.end >= 0 && index.entry($0.end).reason == .stopped }
        let all = counted(added.count, "observer") + (isStopped ? " when the recording was stopped" : "")
        guard !left.isEmpty else { return RuleResult(rule, holds: all) }
        let places = Dictionary(grouping: left) { observer in
            let entry = index.registration(of: observer)
            return indexPair(entry?.name ?? -1, entry?.location ?? -1)
        }.values
        return RuleResult(
            rule, fails: "\(left.count) of \(all) \(left.count == 1 ? "was" : "were") not removed",
            places.map { observers in
                let more = observers.count - 1
                return Finding(
                    problem: words.observer(observers[0])
                        + (more == 0 ? " was" : " and \(more) more that \(more == 1 ? "was" : "were") added there were")
                        + " not removed",
                    evidence: [words.registered(observers[0])])
            })
    }
}
