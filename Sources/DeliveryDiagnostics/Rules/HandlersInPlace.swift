internal import DeliveryRecording

/// `Saved on main`, `Saved not on main`: the threads of a name's handlers.
struct HandlersInPlace {
    private let rule: Rule
    private let words: RecordWords

    init(_ rule: Rule, _ words: RecordWords) { (self.rule, self.words) = (rule, words) }

    func result(_ text: String, _ isThere: Bool, _ place: Rule.Place) -> RuleResult {
        let name = words.name(called: text)
        guard name >= 0 else { return RuleResult(rule, fails: words.missing(name: text)) }
        let handlers = words.handlers(of: name)
        guard !handlers.isEmpty else { return words.notHandled(rule, name) }
        let isInPlace = words.threads(on: place)
        let wrong = handlers.filter { isInPlace[Int($0.thread)] != isThere }
        let missing = words.missing(place, isInPlace)
        guard !wrong.isEmpty || missing != nil else {
            return RuleResult(rule, holds: counted(handlers.count, "handler"))
        }
        let calls = Dictionary(grouping: wrong) { indexPair(words.index.observer(of: $0), $0.thread) }.values
        return RuleResult(
            rule,
            fails: missing ?? "\(wrong.count) of \(counted(handlers.count, "handler")) ran on "
                + (isThere ? "another thread" : "\(place)"),
            calls.map { calls in
                Finding(
                    problem: "\(words.observer(of: calls[0])) ran on \(words.thread(calls[0].thread)) "
                        + words.times(calls.count),
                    evidence: [calls[0].begin])
            })
    }
}
