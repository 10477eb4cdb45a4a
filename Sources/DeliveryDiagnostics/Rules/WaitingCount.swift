internal import DeliveryRecording

/// `Progress at most 3 waiting`: the notifications of a name that wait for one observer at the same time.
struct WaitingCount {
    private let rule: Rule
    private let words: RecordWords

    init(_ rule: Rule, _ words: RecordWords) { (self.rule, self.words) = (rule, words) }

    func result(_ text: String, _ limit: Int) -> RuleResult {
        let (index, name) = (words.index, words.name(called: text))
        guard name >= 0 else { return RuleResult(rule, fails: words.missing(name: text)) }
        let ofName = index.deliveries.filter { index.name(of: $0) == name && $0.append >= 0 }
        let peaks = Dictionary(grouping: ofName, by: \.observer).mapValues(highest)
        let most = peaks.values.map(\.depth).max() ?? 0
        guard most > limit else { return RuleResult(rule, holds: "at most \(most) waiting") }
        return RuleResult(
            rule, fails: "up to \(most) waiting",
            peaks.filter { $0.value.depth > limit }.map { observer, peak in
                Finding(
                    problem: "\(peak.depth) waited for \(words.observer(observer, name: name)) at the same time",
                    evidence: [peak.entry, words.registered(observer)])
            })
    }

    /// The greatest number that waits at the same time, and the record with which it is reached.
    private func highest(_ deliveries: [RecordingIndex.Delivery]) -> (depth: Int, entry: Int32) {
        let ends = deliveries.map { $0.outcome >= 0 ? $0.outcome : $0.skip }.filter { $0 >= 0 }.sorted()
        var highest = (depth: 0, entry: Int32(-1))
        for (number, begin) in deliveries.map(\.append).sorted().enumerated() {
            let depth = number + 1 - ends.firstIndex(after: begin)
            if depth > highest.depth { highest = (depth, begin) }
        }
        return highest
    }
}
