internal import DeliveryRecording

/// Handlers that ran on another thread than their observer's, or on several.
extension Evidence {
    /// Notifications that were handled on another thread than declared (guarantee 1), and handlers of a Foundation
    /// center that ran on another thread although their observer was added on main. One finding for each observer.
    ///
    /// A handler of a Foundation center is a problem if it ran on main and elsewhere. If it ran elsewhere only, that may be
    /// intended: observers are often added when the program starts.
    var handledElsewhere: [Finding] {
        let handlers = index.spans.filter { !$0.isWait && declared($0) >= 0 }
        let calls = handlers.filter { declared($0) != $0.thread }
        let ranThere = Set(handlers.filter { declared($0) == $0.thread }.map(index.observer))
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
            let rule = name < 0 ? "" : "'\(Rule.name(recording.strings[Int(name)])) on main'"
            finding.remedy =
                (isProblem || name < 0 ? "" : "If it must run on \(declared), check that with the rule \(rule). ")
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

    /// Several threads are a problem if one of them is main, or if handlers ran on two threads at the same time;
    /// otherwise a note.
    var handledOnSeveralThreads: [Finding] { handledByPosters(areSeveral: true) }

    var handledOnAnotherThread: [Finding] { handledByPosters(areSeveral: false) }

    /// Observers that are called on the posting thread, if their handlers ran on several threads, or only on a thread
    /// that did not add the observer.
    private func handledByPosters(areSeveral: Bool) -> [Finding] {
        let isCalledByPoster = index.observers.indices.map { observer in
            // Observers of a Foundation center that were added on main are found by `handledElsewhere`.
            index.registration(of: Int32(observer)).map {
                index.isCalledByPoster($0) && !($0.isFoundation && index.expectedThread($0) >= 0)
            } ?? false
        }
        let handlers = index.spans.filter { span in
            let observer = index.observer(of: span)
            return observer >= 0 && isCalledByPoster[Int(observer)] && !index.hasNoTarget(span)
                && !index.entry(span.begin).isAsyncHandlerOfFoundation
        }
        return handlers.grouped(by: index.observer).compactMap { calls in
            let (observer, all) = (index.observer(of: calls[0]), Set(calls.map(\.thread)).sorted())
            let (registered, threads) = (words.registered(observer), words.threads(all))
            let (registration, adding) = (index.entry(registered), index.entry(registered).thread)
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
                ? "on \(all.count) threads (\(threads))\(overlap ? ", two at the same time," : "")"
                : "only on \(threads), not on \(words.thread(adding)), which added it,"
            return Finding(
                severity: areSeveral && (overlap || all.contains(where: index.isMain)) ? .problem : .note,
                problem: "Handlers of \(words.observer(observer)) ran \(ran) because the observer is called on the "
                    + "posting thread.",
                evidence: [registered, calls[0].begin, calls.first { $0.thread != calls[0].thread }?.begin ?? -1],
                remedy: (registration.isFoundation ? "Observe with ThreadedNotificationCenter. " : "")
                    + "Add the observer for the thread that should handle it: addObserver(forName:on:) with .main, "
                    + ".current or a RunLoopThread. Keep .postingThread only for handlers that any thread may run.",
                weight: all.count, name: registration.name)
        }
    }
}
