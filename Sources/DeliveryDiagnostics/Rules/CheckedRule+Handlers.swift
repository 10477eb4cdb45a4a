internal import DeliveryRecording

/// Rules about the threads, the order and the times of handlers.
extension CheckedRule {
    private func handlers(of name: Int32?) -> [RecordingIndex.Span] {
        index.spans.filter { !$0.isWait && index.entry($0.begin).name == name }
    }

    /// `Saved on main`, `Saved not on main`.
    func handlers(areThere: Bool) -> RuleResult {
        let handlers = handlers(of: name)
        if handlers.isEmpty { return notHandled() }
        let wrong = handlers.filter { isAtPlace[Int($0.thread)] != areThere }
        let all = counted(handlers.count, "handler")
        if wrong.isEmpty { return holds(all) }
        let findings = wrong.grouped { [index.observer(of: $0), $0.thread] }.map { calls in
            let (observer, thread) = (words.observer(of: calls[0]), words.thread(calls[0].thread))
            return Finding(
                problem: "\(observer) ran on \(thread) \(words.times(calls.count))", evidence: [calls[0].begin])
        }
        return fails("\(wrong.count) of \(all) ran on \(areThere ? "another" : "that") thread", findings)
    }

    /// No handler of the last name ran at the place, so the rule could not fail.
    func notHandled() -> RuleResult {
        let (count, there) = (posts(of: other).count, handlers(of: other).isEmpty ? "" : " there")
        let posted = count == 0 ? "never posted" : "posted \(words.times(count))"
        return fails("no handler of \(words.name(other ?? -1)) ran\(there); it was \(posted)")
    }

    /// `Opened before Saved`: on each thread, no handler of the second name begins before the first one of the first
    /// name. `each Opened before Saved`: the k-th begins after the k-th.
    func ordered(isEach: Bool = false) -> RuleResult {
        let handlers = handlers(of: other).filter { isAtPlace[Int($0.thread)] }
        if handlers.isEmpty { return notHandled() }
        let begun = Dictionary(grouping: self.handlers(of: name), by: \.thread)
        let early = handlers.grouped(by: \.thread).flatMap { handlers in
            let first = begun[handlers[0].thread, default: []].map(\.begin)
            return handlers.enumerated().filter { number, handler in
                let needed = isEach ? number : 0
                return needed >= first.count || handler.begin < first[needed]
            }.map(\.element)
        }
        let (second, all) = (words.name(other ?? -1), counted(handlers.count, "handler"))
        if early.isEmpty { return holds("\(all) of \(second)") }
        let findings = early.grouped(by: \.thread).map { early in
            let first = begun[early[0].thread]?.first?.begin
            return Finding(
                problem: "\(words.thread(early[0].thread)) handled \(second) \(words.times(early.count)) "
                    + (first == nil ? "and never \(named)" : "before its \(isEach ? "own" : "first") \(named)"),
                evidence: [early[0].begin, first ?? -1])
        }
        return fails("\(early.count) of \(all) of \(second) ran before \(named)", findings)
    }

    // MARK: Times

    /// A handler or a delivery.
    struct Call {
        /// Calls of one kind, such as those of an observer, are one finding.
        let kind: [Int32]
        let begin, end: Int32
        /// True if it breaks the rule however short it is.
        var isTooLate = false
    }

    /// `no handler on main longer than 16 ms`: the time from a handler's call to its return, with the handlers that ran
    /// inside it. A handler that has not returned lasts until the recording ends. The times of async handlers, and of
    /// the document's technique, are not recorded.
    func noLongHandler() -> RuleResult {
        let calls = index.spans.compactMap { span -> Call? in
            guard !span.isWait, isAtPlace[Int(span.thread)], !index.hasNoTarget(span),
                span.ending == .returned || span.ending == .open
            else { return nil }
            let entry = index.entry(span.begin)
            return Call(
                kind: [entry.observer, entry.name], begin: span.begin,
                end: span.end >= 0 ? span.end : last(of: span.begin))
        }
        return limited(calls, counted(calls.count, "handler")) { call, time in
            let span = index.spans[Int(index.spanOfEntry[Int(call.begin)])]
            return "\(words.observer(of: span)) took \(time) on \(words.thread(span.thread))"
                + (span.ending == .open ? " and did not return" : "")
        }
    }

    /// Holds if no call is longer than the rule's time.
    ///
    /// - Parameter problem: the sentence for the longest call of a kind.
    func limited(_ calls: [Call], _ all: String, problem: (Call, _ time: String) -> String) -> RuleResult {
        func time(_ call: Call) -> UInt64 { index.time(from: call.begin, to: call.end) }
        let longest = ElapsedTime.text(calls.map(time).max() ?? 0)
        let long = calls.filter { $0.isTooLate || time($0) > UInt64(rule.time.nanoseconds) }
        if long.isEmpty { return holds(calls.isEmpty ? all : "\(all), the longest \(longest)") }
        let findings = long.grouped(by: \.kind).map { calls in
            let longest = calls.reduce(calls[0]) { time($1) > time($0) ? $1 : $0 }
            return Finding(
                problem: problem(longest, ElapsedTime.text(time(longest)))
                    + (calls.count == 1 ? "" : "; \(calls.count) were too long"),
                evidence: [longest.begin, longest.end])
        }
        return fails("\(long.count) of \(all) took longer, up to \(longest)", findings)
    }

    /// The last record of a record's process.
    func last(of record: Int32) -> Int32 { index.processes[words.recording.process(of: index.entry(record))].last }
}
