internal import DeliveryRecording

/// Handlers that ran on another thread than their observer's, or on several.
extension Evidence {
    /// Notifications that were handled on another thread than declared (guarantee 1), and handlers that were called by
    /// their posters on several threads, or not on main although their observer was added there to a Foundation center.
    var handledElsewhere: [Finding] {
        index.spans.filter { span in
            !span.isWait && !index.entry(span.begin).isFoundation && declared(span) >= 0
                && declared(span) != span.thread
        }.grouped { [index.observer(of: $0), words.observedName(index.entry($0.begin)), declared($0)] }.map { calls in
            let entry = index.entry(calls[0].begin)
            return Finding(
                problem: "\(words.observer(entry.observer, name: words.observedName(entry))) should be handled on "
                    + "\(words.thread(declared(calls[0]))) but was handled on \(ran(calls)).",
                evidence: [words.registered(entry.observer), words.posted(entry), calls[0].begin],
                remedy: "If no other code than the center calls the handler, this is a bug of the library.",
                weight: calls.count)
        } + handledByPosters.filter { $0.kind == "wrongThread" }
    }

    /// Handlers that ran on one thread, which did not add the observer. That may be intended.
    var handledOnAnotherThread: [Finding] { handledByPosters.filter { $0.kind == "onPostingThread" } }

    /// The thread that was declared to run a handler of the library; -1 if none was.
    private func declared(_ span: RecordingIndex.Span) -> Int32 {
        let entry = index.entry(span.begin)
        if let declared = index.registration(of: entry.observer)?.target, declared >= 0 { return declared }
        return span.delivery < 0 ? entry.target : index.target(of: index.deliveries[Int(span.delivery)])
    }

    /// For example `worker and other 3 times`.
    private func ran(_ calls: [RecordingIndex.Span]) -> String {
        "\(words.list(Set(calls.map(\.thread)).sorted().map(words.thread))) \(words.times(calls.count))"
    }

    /// Observers that are called on the posting thread, and of which a handler ran on a thread that did not add them. A
    /// problem if a handler ran on main and elsewhere, or if two ran at the same time.
    private var handledByPosters: [Finding] {
        index.spans.filter { !index.hasNoTarget($0) && !index.entry($0.begin).isAsyncHandlerOfFoundation }
            .grouped(by: index.observer).compactMap { calls in
                let (observer, threads) = (index.observer(of: calls[0]), Set(calls.map(\.thread)))
                guard let registration = index.registration(of: observer), index.isCalledByPoster(registration),
                    !recording.isCalledByFoundation(registration),
                    case let elsewhere = calls.filter({ $0.thread != registration.thread }), let first = elsewhere.first
                else { return nil }
                let overlap = zip(calls, calls.dropFirst()).contains { call, next in
                    call.thread != next.thread && (call.end < 0 || call.end > next.begin)
                }
                let isExpected = registration.isFoundation && index.expectedThread(registration) >= 0
                return Finding(
                    kind: threads.count > 1 || isExpected ? "wrongThread" : "onPostingThread",
                    severity: overlap || threads.count > 1 && threads.contains(where: index.isMain) ? .problem : .note,
                    problem: "\(words.observer(observer)) was added on \(words.thread(registration.thread)), but its "
                        + "handler ran on \(ran(elsewhere))\(overlap ? ", and on two threads at the same time" : ""), "
                        + "because it is called on the thread that posts.",
                    evidence: [words.registered(observer), words.posted(index.entry(first.begin)), first.begin],
                    remedy: "Observe with ThreadedNotificationCenter, for the thread that should run the handler: "
                        + "addObserver(forName:on:) with .main, .current or a RunLoopThread. If any thread may run it, "
                        + "accept this finding.", weight: elsewhere.count)
            }
    }
}
