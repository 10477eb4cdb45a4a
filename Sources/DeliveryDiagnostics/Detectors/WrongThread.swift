internal import DeliveryRecording

extension Detector {
    /// Finds handlers that ran on another thread than their observer's, or on several.
    static let wrongThread = Detector(
        "wrongThread", "a handler ran on another thread than its observer's, or on several",
        formerly: ["severalThreads"]
    ) { $0.elsewhere + $0.onPostingThreads(areSeveral: true) }

    /// Finds observers that are called on the posting thread, if their handlers ran only on one other thread.
    static let onPostingThread = Detector(
        "onPostingThread", "handlers ran only on a thread that did not add the observer, because it posted"
    ) { $0.onPostingThreads(areSeveral: false) }
}

extension Evidence {
    /// Notifications that were handled on another thread than declared (guarantee 1), and handlers of a Foundation
    /// center that ran on another thread although their observer was added on main. One finding for each observer.
    ///
    /// A handler of a Foundation center is a problem if it ran on main and elsewhere. If it ran elsewhere only, that may be
    /// intended: observers are often added when the program starts.
    fileprivate var elsewhere: [Finding] {
        func isElsewhere(_ span: RecordingIndex.Span) -> Bool {
            let declared = span.isWait ? -1 : declared(span)
            return declared >= 0 && declared != span.thread
        }
        let calls = index.spans.filter(isElsewhere)
        guard !calls.isEmpty else { return [] }
        let ranThere = Set(index.spans.filter { !$0.isWait && declared($0) == $0.thread }.map(index.observer))
        return calls.grouped { span in
            [index.observer(of: span), words.observedName(index.entry(span.begin)), declared(span)]
        }.map { calls in
            let entry = index.entry(calls[0].begin)
            let (name, declared) = (words.observedName(entry), words.thread(declared(calls[0])))
            let observer = words.observer(entry.observer, name: name)
            let others = "\(words.threads(Set(calls.map(\.thread)).sorted())) \(words.times(calls.count))"
            var finding = Finding(
                problem: "\(observer) should be handled on \(declared) but was handled on \(others).",
                evidence: [words.registered(entry.observer), words.posted(entry), calls[0].begin],
                remedy: "Only the center should call the handler. If no other code calls it, report this recording "
                    + "as a bug of the library.", weight: calls.count, name: name)
            guard entry.isFoundation else { return finding }
            let isProblem = ranThere.contains(entry.observer)
            finding.severity = isProblem ? .problem : .note
            finding.problem =
                "\(observer) was added on \(declared), but its handler ran on \(others)"
                + "\(isProblem ? ", and on \(declared) too" : ""), because NotificationCenter calls handlers on the "
                + "thread that posts."
            finding.remedy =
                (isProblem || name < 0
                    ? ""
                    : "If it must run on \(declared), check that with the rule "
                        + "'\(Rule.name(recording.strings[Int(name)])) on main'. ")
                + "Observe with ThreadedNotificationCenter: addObserver(forName:on: .main), or post on \(declared). "
                + "NotificationCenter's addObserver(queue: .main) also runs the handler on \(declared), but the "
                + "post then waits for it. If any thread may run the handler, accept this finding."
            return finding
        }
    }

    /// The thread that was declared to run a handler; -1 if none was.
    private func declared(_ span: RecordingIndex.Span) -> Int32 {
        let entry = index.entry(span.begin)
        let registration = index.registration(of: entry.observer)
        if entry.isAsyncHandlerOfFoundation { return -1 }
        if entry.isFoundation { return registration.map(index.expectedThread) ?? -1 }
        if let declared = registration?.target, declared >= 0 { return declared }
        let append = span.delivery < 0 ? -1 : index.deliveries[Int(span.delivery)].append
        return append >= 0 && index.entry(append).target >= 0 ? index.entry(append).target : entry.target
    }

    /// Observers that are called on the posting thread, if their handlers ran on several threads, or only on a thread
    /// that did not add the observer.
    ///
    /// Several threads are a problem if one of them is main, or if handlers ran on two threads at the same time;
    /// otherwise a note. One other thread is a note.
    fileprivate func onPostingThreads(areSeveral: Bool) -> [Finding] {
        let isCalledByPoster = index.observers.indices.map { observer in
            // Observers of a Foundation center that were added on main are found by `elsewhere`.
            index.registration(of: Int32(observer)).map {
                index.isCalledByPoster($0) && !($0.isFoundation && index.expectedThread($0) >= 0)
            } ?? false
        }
        guard isCalledByPoster.contains(true) else { return [] }
        let handlers = index.spans.filter { span in
            let observer = index.observer(of: span)
            return observer >= 0 && isCalledByPoster[Int(observer)] && !index.hasNoTarget(span)
                && !index.entry(span.begin).isAsyncHandlerOfFoundation
        }
        return handlers.grouped(by: index.observer).compactMap { calls in
            let registered = words.registered(index.observer(of: calls[0]))
            let (adding, all) = (index.entry(registered).thread, Set(calls.map(\.thread)).sorted())
            guard areSeveral == (all.count > 1), areSeveral || all[0] != adding else { return nil }
            /// True if calls on two threads overlapped.
            var overlap = false
            /// The call that ends last so far.
            var last = calls[0]
            for call in calls {
                if call.thread != last.thread, last.end < 0 || last.end > call.begin { overlap = true }
                if last.end >= 0, call.end < 0 || call.end > last.end { last = call }
            }
            let ran =
                areSeveral
                ? "on \(all.count) threads (\(words.threads(all)))\(overlap ? ", two at the same time," : "")"
                : "only on \(words.threads(all)), not on \(words.thread(adding)), which added it,"
            return Finding(
                severity: areSeveral && (overlap || all.contains(where: index.isMain)) ? .problem : .note,
                problem:
                    "Handlers of \(words.observer(index.observer(of: calls[0]))) ran \(ran) because the observer is "
                    + "called on the posting thread.",
                evidence: [registered, calls[0].begin, calls.first { $0.thread != calls[0].thread }?.begin ?? -1],
                remedy: (index.entry(registered).isFoundation ? "Observe with ThreadedNotificationCenter. " : "")
                    + "Add the observer for the thread that should handle it: addObserver(forName:on:) with .main, "
                    + ".current or a RunLoopThread. Keep .postingThread only for handlers that any thread may run.",
                weight: all.count, name: index.entry(registered).name, formerKind: areSeveral ? "severalThreads" : nil,
                sortedAs: areSeveral ? .waitTimedOut : nil)
        }
    }
}
