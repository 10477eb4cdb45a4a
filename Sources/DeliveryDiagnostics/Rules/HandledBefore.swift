internal import DeliveryRecording

/// `Opened before Saved`: the order of the handlers of two names on a thread.
///
/// Each handler of the second name begins after a handler of the first name has begun on its thread.
struct HandledBefore {
    private let rule: Rule
    private let words: RecordWords

    init(_ rule: Rule, _ words: RecordWords) { (self.rule, self.words) = (rule, words) }

    func result(_ firstText: String, _ secondText: String, _ place: Rule.Place?) -> RuleResult {
        let (first, second) = (words.name(called: firstText), words.name(called: secondText))
        for (name, text) in [(first, firstText), (second, secondText)] where name < 0 {
            return RuleResult(rule, fails: words.missing(name: text))
        }
        let isIncluded = words.threads(on: place)
        if let missing = words.missing(place, isIncluded) { return RuleResult(rule, fails: missing) }
        let handlers = words.handlers(of: second).filter { isIncluded[Int($0.thread)] }
        guard !handlers.isEmpty else { return words.notHandled(rule, second, on: place) }
        /// By thread: the first handler of the first name.
        let begun = Dictionary(words.handlers(of: first).map { ($0.thread, $0.begin) }) { one, _ in one }
        let early = handlers.filter { $0.begin < begun[$0.thread] ?? .max }
        guard !early.isEmpty else {
            return RuleResult(rule, holds: "\(counted(handlers.count, "handler")) of \(words.name(second))")
        }
        return RuleResult(
            rule,
            fails: "\(early.count) of \(counted(handlers.count, "handler")) of \(words.name(second)) ran before "
                + "\(words.name(first))",
            Dictionary(grouping: early, by: \.thread).map { thread, early in
                let text = "\(words.thread(thread)) handled \(words.name(second)) \(words.times(early.count)) "
                guard let begun = begun[thread] else {
                    return Finding(
                        problem: text + "and never \(words.name(first))", evidence: [early[0].begin])
                }
                return Finding(
                    problem: text + "before its first \(words.name(first))",
                    evidence: [early[0].begin, begun])
            })
    }
}
