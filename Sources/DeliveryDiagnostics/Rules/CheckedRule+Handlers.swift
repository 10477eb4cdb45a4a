internal import DeliveryRecording

/// Rules about the threads, the order and the times of handlers.
extension CheckedRule {
    private func handlers(of name: Int32) -> [RecordingIndex.Span] {
        index.spans.filter { !$0.isWait && index.entry($0.begin).name == name }
    }

    /// `Saved on main`, `Saved not on main`.
    func handlers(of name: Int32, _ isThere: Bool, _ place: Rule.Place) -> RuleResult {
        let handlers = handlers(of: name)
        guard !handlers.isEmpty else { return notHandled(name) }
        let isInPlace = threads(on: place)
        let wrong = handlers.filter { isInPlace[Int($0.thread)] != isThere }
        let missing = missing(place, isInPlace)
        guard !wrong.isEmpty || missing != nil else { return holds(counted(handlers.count, "handler")) }
        return fails(
            missing ?? "\(wrong.count) of \(counted(handlers.count, "handler")) ran on "
                + (isThere ? "another thread" : "\(place)"),
            Dictionary(grouping: wrong) { [index.observer(of: $0), $0.thread] }.values.map { calls in
                let thread = words.thread(calls[0].thread)
                return Finding(
                    problem: "\(words.observer(of: calls[0])) ran on \(thread) \(words.times(calls.count))",
                    evidence: [calls[0].begin])
            })
    }

    /// No handler of the name ran: with its posts, their observers and outcomes.
    func notHandled(_ name: Int32, on place: Rule.Place? = nil) -> RuleResult {
        let posts = posts(of: name).flatMap(\.self)
        return fails(
            "no handler of \(words.name(name)) ran\(place.map { " on \($0)" } ?? ""); it was "
                + (posts.isEmpty ? "never posted" : "posted \(words.times(posts.count))"),
            posts.map { posted in
                let post = index.entry(posted).post
                guard post >= 0 else { return Finding(problem: "it was posted here", evidence: [posted]) }
                let deliveries = index.deliveries(ofPost: post).map { index.deliveries[$0] }
                let outcomes = deliveries.prefix(3).map { delivery in
                    "\(words.observer(delivery.observer, name: index.name(of: delivery))): \(words.outcome(of: delivery))"
                }
                let more = deliveries.count > 3 ? ["and \(deliveries.count - 3) more"] : []
                return Finding(
                    problem: "\(words.post(post)) had \(deliveries.isEmpty ? "no observer" : "observers")",
                    evidence: [posted], details: outcomes + more)
            })
    }

    /// `Opened before Saved`: on each thread, no handler of the second name begins before the first one of the first
    /// name. `each Opened before Saved`: the k-th begins after the k-th.
    func handled(_ first: Int32, before second: Int32, _ isEach: Bool, _ place: Rule.Place?) -> RuleResult {
        let isIncluded = threads(on: place)
        if let missing = missing(place, isIncluded) { return fails(missing) }
        let handlers = handlers(of: second).filter { isIncluded[Int($0.thread)] }
        guard !handlers.isEmpty else { return notHandled(second, on: place) }
        /// By thread: the handlers of the first name.
        let begun = Dictionary(grouping: self.handlers(of: first), by: \.thread).mapValues { $0.map(\.begin) }
        /// By thread: the number of handlers of the second name so far.
        var counts: [Int32: Int] = [:]
        let early = handlers.filter { handler in
            let number = isEach ? counts[handler.thread, default: 0] : 0
            counts[handler.thread, default: 0] += 1
            guard let begun = begun[handler.thread], number < begun.count else { return true }
            return handler.begin < begun[number]
        }
        let all = "\(counted(handlers.count, "handler")) of \(words.name(second))"
        guard !early.isEmpty else { return holds(all) }
        let name = words.name(first)
        return fails(
            "\(early.count) of \(all) ran before \(isEach ? "its " : "")\(name)",
            Dictionary(grouping: early, by: \.thread).map { thread, early in
                let begun = begun[thread]?.first
                return Finding(
                    problem: "\(words.thread(thread)) handled \(words.name(second)) \(words.times(early.count)) "
                        + (begun == nil ? "and never \(name)" : "before its \(isEach ? "own" : "first") \(name)"),
                    evidence: [early[0].begin, begun ?? -1])
            })
    }

    /// `no handler on main longer than 16 ms`: the time from a handler's call to its return, with the handlers that ran
    /// inside it. A handler that has not returned lasts until its thread or the recording of its process ends. The times
    /// of async handlers, and of the document's technique, are not recorded; they are counted.
    func noHandler(on place: Rule.Place?, longerThan limit: ElapsedTime) -> RuleResult {
        let isIncluded = threads(on: place)
        if let missing = missing(place, isIncluded) { return holds(missing) }
        var calls: [Call] = []
        var untimed = 0
        for span in index.spans where !span.isWait && isIncluded[Int(span.thread)] {
            guard let end = index.knownEnd(of: span), !index.hasNoTarget(span) else {
                untimed += 1
                continue
            }
            let entry = index.entry(span.begin)
            calls.append(
                Call(
                    kind: [entry.observer, entry.name], begin: span.begin, end: end,
                    time: index.time(from: span.begin, to: end)))
        }
        guard !calls.isEmpty || untimed == 0 else {
            return fails("the recording does not have the time of any of \(counted(untimed, "handler"))")
        }
        let rest = untimed == 0 ? "" : "; the times of \(untimed) more are not recorded"
        return no("handler", in: calls, longerThan: limit, rest: rest) { call, time, more in
            let span = index.spans[Int(index.spanOfEntry[Int(call.begin)])]
            let end =
                switch span.ending {
                case .open: " and had not returned when the recording ended"
                case .abandoned: " and had not returned when its thread ended"
                default: ""
                }
            return "\(words.observer(of: span)) took \(time) on \(words.thread(span.thread))\(more)\(end)"
        }
    }
}
