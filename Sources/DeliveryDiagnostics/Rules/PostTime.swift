internal import DeliveryRecording

/// `no post longer than 5 ms`: the time that a post occupies its thread.
struct PostTime {
    private let rule: Rule
    private let words: RecordWords

    init(_ rule: Rule, _ words: RecordWords) { (self.rule, self.words) = (rule, words) }

    func result(_ limit: ElapsedTime) -> RuleResult {
        let calls = words.index.postCalls.map { (call: $0, time: words.index.time(from: $0.begin, to: $0.end)) }
        let all = counted(calls.count, "post")
        let longest = calls.map(\.time).max() ?? 0
        let long = calls.filter { $0.time > limit.duration.nanoseconds }
        guard !long.isEmpty else {
            return RuleResult(rule, holds: calls.isEmpty ? all : "\(all), the longest \(ElapsedTime.text(longest))")
        }
        let places = Dictionary(grouping: long) { call, _ in
            [
                words.index.name(ofPost: call.post), call.thread,
                words.index.entry(words.source(ofPost: call.post)).location,
            ]
        }.values
        return RuleResult(
            rule, fails: "\(long.count) of \(all) took longer, up to \(ElapsedTime.text(longest))",
            places.map { calls in
                let first = calls.reduce(calls[0]) { $1.time > $0.time ? $1 : $0 }
                return Finding(
                    problem: "a post of \(words.name(words.index.name(ofPost: first.call.post))) blocked "
                        + "\(words.thread(first.call.thread)) for \(calls.count == 1 ? "" : "up to ")"
                        + ElapsedTime.text(first.time)
                        + (calls.count == 1 ? "" : ", and was too long \(words.times(calls.count))"),
                    evidence: [first.call.begin, first.call.end])
            })
    }
}
