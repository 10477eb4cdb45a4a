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
        return fails("\(wrong.count) of \(all) ran on \(areThere ? "another" : "that") thread", ran(wrong))
    }

    /// A finding for each observer and thread.
    private func ran(_ handlers: [RecordingIndex.Span]) -> [Finding] {
        handlers.grouped { [index.observer(of: $0), $0.thread] }.map { calls in
            Finding(
                problem: "\(words.observer(of: calls[0])) ran on \(words.thread(calls[0].thread)) "
                    + words.times(calls.count), evidence: [calls[0].begin])
        }
    }

    /// No handler of the last name ran at the place, so the rule could not fail: with those that ran elsewhere.
    func notHandled() -> RuleResult {
        let (count, elsewhere) = (posts(of: other).count, handlers(of: other))
        return fails(
            "no handler of \(words.name(other ?? -1)) ran\(elsewhere.isEmpty ? "" : " there"); it was "
                + (count == 0 ? "never posted" : "posted \(words.times(count))"), ran(elsewhere))
    }

    /// `Opened before Saved`: on each thread, no handler of the second name begins before the first one of the first
    /// name. `each Opened before Saved`: the k-th begins after the k-th.
    func ordered(isEach: Bool) -> RuleResult {
        let handlers = handlers(of: other).filter { isAtPlace[Int($0.thread)] }
        if handlers.isEmpty { return notHandled() }
        /// By thread: the handlers of the first name, and the number of those of the second name so far.
        let begun = Dictionary(grouping: self.handlers(of: name), by: \.thread).mapValues { $0.map(\.begin) }
        var counts: [Int32: Int] = [:]
        let early = handlers.filter { handler in
            let number = isEach ? counts[handler.thread, default: 0] : 0
            counts[handler.thread, default: 0] += 1
            guard let begun = begun[handler.thread], number < begun.count else { return true }
            return handler.begin < begun[number]
        }
        let (second, all) = (words.name(other ?? -1), counted(handlers.count, "handler"))
        if early.isEmpty { return holds("\(all) of \(second)") }
        let findings = early.grouped(by: \.thread).map { early in
            let begun = begun[early[0].thread]?.first
            return Finding(
                problem: "\(words.thread(early[0].thread)) handled \(second) \(words.times(early.count)) "
                    + (begun == nil ? "and never \(named)" : "before its \(isEach ? "own" : "first") \(named)"),
                evidence: [early[0].begin, begun ?? -1])
        }
        return fails("\(early.count) of \(all) of \(second) ran before \(named)", findings)
    }

    /// `no handler on main longer than 16 ms`: the time from a handler's call to its return, with the handlers that ran
    /// inside it. The times of async handlers, and of the document's technique, are not recorded.
    func noLongHandler() -> RuleResult {
        let calls = index.spans.compactMap { span -> Call? in
            guard !span.isWait, isAtPlace[Int(span.thread)], !index.hasNoTarget(span), let end = end(of: span) else {
                return nil
            }
            let entry = index.entry(span.begin)
            return Call(kind: [entry.observer, entry.name], begin: span.begin, end: end)
        }
        return limited(calls, counted(calls.count, "handler")) { call, time in
            let span = index.spans[Int(index.spanOfEntry[Int(call.begin)])]
            return "\(words.observer(of: span)) took \(time) on \(words.thread(span.thread))"
                + (span.ending == .returned ? "" : " and did not return")
        }
    }

    /// The return of a handler, or the end of its thread or of the recording; nil if its end is unknown.
    func end(of span: RecordingIndex.Span) -> Int32? {
        switch span.ending {
        case .returned: span.end
        case .open: span.end >= 0 ? span.end : last(of: span.begin)
        case .abandoned: index.entry(span.end).stage == .threadEnd ? span.end : nil
        case .notRecorded: nil
        }
    }

    /// The last record of a record's process.
    func last(of record: Int32) -> Int32 { index.processes[words.recording.process(of: index.entry(record))].last }
}
