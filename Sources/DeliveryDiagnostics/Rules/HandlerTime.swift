internal import DeliveryRecording

/// `no handler on main longer than 16 ms`: the time from a handler's call to its return, with the handlers that ran
/// inside it. A handler that has not returned lasts until its thread or the recording of its process ends. The times of
/// async handlers, and of the document's technique, are not recorded; they are counted.
struct HandlerTime {
    private typealias Call = (span: RecordingIndex.Span, end: Int32, time: UInt64)

    private let rule: Rule
    private let words: RecordWords

    init(_ rule: Rule, _ words: RecordWords) { (self.rule, self.words) = (rule, words) }

    func result(_ place: Rule.Place?, _ limit: ElapsedTime) -> RuleResult {
        let index = words.index
        let isIncluded = words.threads(on: place)
        if let missing = words.missing(place, isIncluded) { return RuleResult(rule, holds: missing) }
        var calls: [Call] = []
        var untimed = 0
        for span in index.spans where !span.isWait && isIncluded[Int(span.thread)] {
            if let end = index.knownEnd(of: span), !index.hasNoTarget(span) {
                calls.append((span, end, index.time(from: span.begin, to: end)))
            } else {
                untimed += 1
            }
        }
        guard !calls.isEmpty || untimed == 0 else {
            return RuleResult(
                rule, fails: "the recording does not have the time of any of \(counted(untimed, "handler"))")
        }
        let all = counted(calls.count, "handler")
        let longest = calls.map(\.time).max() ?? 0
        let long = calls.filter { $0.time > limit.duration.nanoseconds }
        guard !long.isEmpty else {
            let rest = untimed == 0 ? "" : "; the times of \(untimed) more are not recorded"
            return RuleResult(
                rule, holds: calls.isEmpty ? all : "\(all), the longest \(ElapsedTime.text(longest))\(rest)")
        }
        let observers = Dictionary(grouping: long) { call in
            indexPair(index.entry(call.span.begin).observer, index.entry(call.span.begin).name)
        }.values
        return RuleResult(
            rule, fails: "\(long.count) of \(all) took longer, up to \(ElapsedTime.text(longest))",
            observers.map(finding))
    }

    /// - Parameter calls: those of one observer that were too long.
    private func finding(_ calls: [Call]) -> Finding {
        let longest = calls.reduce(calls[0]) { $1.time > $0.time ? $1 : $0 }
        return Finding(
            problem: "\(words.observer(of: longest.span)) took \(calls.count == 1 ? "" : "up to ")"
                + "\(ElapsedTime.text(longest.time)) on \(words.thread(longest.span.thread))"
                + (calls.count == 1 ? "" : ", and was too long \(words.times(calls.count))")
                + (longest.span.ending == .open ? " and had not returned when the recording ended" : "")
                + (longest.span.ending == .abandoned ? " and had not returned when its thread ended" : ""),
            evidence: [longest.span.begin, longest.end])
    }
}
