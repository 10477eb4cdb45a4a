internal import DeliveryRecording

/// `Opened before Saved`: on each thread, no handler of the second name begins before the first one of the first name.
/// `each Opened before Saved`: the k-th begins after the k-th.
struct HandledBefore {
    private let rule: Rule
    private let words: RecordWords

    init(_ rule: Rule, _ words: RecordWords) { (self.rule, self.words) = (rule, words) }

    func result(_ firstText: String, _ secondText: String, _ isEach: Bool, _ place: Rule.Place?) -> RuleResult {
        let (first, second) = (words.name(called: firstText), words.name(called: secondText))
        for (name, text) in [(first, firstText), (second, secondText)] where name < 0 {
            return RuleResult(rule, fails: words.missing(name: text))
        }
        let isIncluded = words.threads(on: place)
        if let missing = words.missing(place, isIncluded) { return RuleResult(rule, fails: missing) }
        let handlers = words.handlers(of: second).filter { isIncluded[Int($0.thread)] }
        guard !handlers.isEmpty else { return words.notHandled(rule, second, on: place) }
        /// By thread: the handlers of the first name.
        let begun = Dictionary(grouping: words.handlers(of: first), by: \.thread).mapValues { $0.map(\.begin) }
        /// By thread: the number of handlers of the second name so far.
        var counts: [Int32: Int] = [:]
        let early = handlers.filter { handler in
            let number = isEach ? counts[handler.thread, default: 0] : 0
            counts[handler.thread, default: 0] += 1
            guard let begun = begun[handler.thread], number < begun.count else { return true }
            return handler.begin < begun[number]
        }
        guard !early.isEmpty else {
            return RuleResult(rule, holds: "\(counted(handlers.count, "handler")) of \(words.name(second))")
        }
        return RuleResult(
            rule,
            fails: "\(early.count) of \(counted(handlers.count, "handler")) of \(words.name(second)) ran before "
                + "\(isEach ? "its " : "")\(words.name(first))",
            Dictionary(grouping: early, by: \.thread).map { thread, early in
                let text = "\(words.thread(thread)) handled \(words.name(second)) \(words.times(early.count)) "
                guard let begun = begun[thread]?.first else {
                    return Finding(
                        problem: text + "and never \(words.name(first))", evidence: [early[0].begin])
                }
                return Finding(
                    problem: text
                        + (isEach ? "before its own \(words.name(first))" : "before its first \(words.name(first))"),
                    evidence: [early[0].begin, begun])
            })
    }
}
