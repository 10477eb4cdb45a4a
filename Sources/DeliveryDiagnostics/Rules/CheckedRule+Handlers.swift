internal import DeliveryRecording

/// Rules about the threads, the order and the times of handlers.
extension CheckedRule {
    private func handlers(of name: Int32?) -> [RecordingIndex.Span] {
        index.spans.filter { !$0.isWait && index.entry($0.begin).name == name }
    }

    /// `Saved on main`, `Saved not on main`.
    func handlers(areThere: Bool) -> RuleResult {
        let (handlers, isAtPlace, missing) = (handlers(of: name), isAtPlace, missingPlace)
        guard !handlers.isEmpty else { return notHandled(name) }
        let wrong = handlers.filter { isAtPlace[Int($0.thread)] != areThere }
        if wrong.isEmpty, let missing { return fails(missing) }
        let all = counted(handlers.count, "handler")
        if wrong.isEmpty { return holds(all) }
        return fails(
            missing ?? "\(wrong.count) of \(all) ran on \(areThere ? "another thread" : rule.place?.description ?? "")",
            ran(wrong))
    }

    /// A finding for each observer and thread.
    private func ran(_ handlers: [RecordingIndex.Span]) -> [Finding] {
        handlers.grouped { [index.observer(of: $0), $0.thread] }.map { calls in
            Finding(
                problem: "\(words.observer(of: calls[0])) ran on \(words.thread(calls[0].thread)) "
                    + words.times(calls.count), evidence: [calls[0].begin])
        }
    }

    /// No handler of the name ran, or none at a place: with those that ran elsewhere, or else what detectors found.
    func notHandled(_ name: Int32?, on place: Rule.Place? = nil) -> RuleResult {
        let (handlers, posts) = (handlers(of: name), posts(of: name))
        return fails(
            "no handler of \(words.name(name ?? -1)) ran\(place.map { " on \($0)" } ?? ""); it was "
                + (posts.isEmpty ? "never posted" : "posted \(words.times(posts.count))"),
            handlers.isEmpty ? undelivered(name) + unmatched(name, posts) : ran(handlers))
    }

    /// `Opened before Saved`: on each thread, no handler of the second name begins before the first one of the first
    /// name. `each Opened before Saved`: the k-th begins after the k-th.
    func ordered(isEach: Bool) -> RuleResult {
        if let missing = missingPlace { return fails(missing) }
        let (first, second, isAtPlace) = (found[0], found[1], isAtPlace)
        let handlers = handlers(of: second).filter { isAtPlace[Int($0.thread)] }
        guard !handlers.isEmpty else { return notHandled(second, on: rule.place) }
        /// By thread: the handlers of the first name, and the number of those of the second name so far.
        let begun = Dictionary(grouping: self.handlers(of: first), by: \.thread).mapValues { $0.map(\.begin) }
        var counts: [Int32: Int] = [:]
        let early = handlers.filter { handler in
            let number = isEach ? counts[handler.thread, default: 0] : 0
            counts[handler.thread, default: 0] += 1
            guard let begun = begun[handler.thread], number < begun.count else { return true }
            return handler.begin < begun[number]
        }
        let (name, other) = (words.name(first ?? -1), words.name(second ?? -1))
        let all = "\(counted(handlers.count, "handler")) of \(other)"
        return result(
            all, unless: early.grouped(by: \.thread),
            "\(early.count) of \(all) ran before \(isEach ? "its " : "")\(name)"
        ) { early in
            let begun = begun[early[0].thread]?.first
            return Finding(
                problem: "\(words.thread(early[0].thread)) handled \(other) \(words.times(early.count)) "
                    + (begun == nil ? "and never \(name)" : "before its \(isEach ? "own" : "first") \(name)"),
                evidence: [early[0].begin, begun ?? -1])
        }
    }

    /// `no handler on main longer than 16 ms`: the time from a handler's call to its return, with the handlers that ran
    /// inside it. A handler that has not returned lasts until its thread or the recording of its process ends. The times
    /// of async handlers, and of the document's technique, are not recorded; they are counted.
    func noLongHandler() -> RuleResult {
        if let missing = missingPlace { return holds(missing) }
        let isAtPlace = isAtPlace
        let handlers = index.spans.filter { !$0.isWait && isAtPlace[Int($0.thread)] }
        let calls = handlers.compactMap { span -> Call? in
            guard let end = knownEnd(of: span), !index.hasNoTarget(span) else { return nil }
            let entry = index.entry(span.begin)
            return Call(kind: [entry.observer, entry.name], begin: span.begin, end: end)
        }
        let untimed = handlers.count - calls.count
        guard !calls.isEmpty || untimed == 0 else {
            return fails("the recording does not have the time of any of \(counted(untimed, "handler"))")
        }
        let rest = untimed == 0 ? "" : "; the times of \(untimed) more are not recorded"
        return no("handler", in: calls, rest: rest) { call, time in
            let span = index.spans[Int(index.spanOfEntry[Int(call.begin)])]
            let end = [.open: "the recording", .abandoned: "its thread"][span.ending]
            return "\(words.observer(of: span)) took \(time) on \(words.thread(span.thread))"
                + (end.map { " and had not returned when \($0) ended" } ?? "")
        }
    }

    /// The last record of a span: its own end, or the end of its thread or process if it continues until then. Nil if
    /// its end is unknown.
    func knownEnd(of span: RecordingIndex.Span) -> Int32? {
        switch span.ending {
        case .returned: span.end
        case .open:
            span.end >= 0 ? span.end : index.processes[words.recording.process(of: index.entry(span.begin))].last
        case .abandoned: index.entry(span.end).stage == .threadEnd ? span.end : nil
        case .notRecorded: nil
        }
    }
}
