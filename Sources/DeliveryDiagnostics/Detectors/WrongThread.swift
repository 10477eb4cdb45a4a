internal import DeliveryRecording

extension Detector {
    /// Finds handlers that ran on another thread than their observer's, or on several.
    static let wrongThread = Detector(
        "wrongThread", "a handler ran on another thread than its observer's, or on several",
        formerly: ["severalThreads"]
    ) { elsewhere($0) + onPostingThreads($0, areSeveral: true) }

    /// Finds observers that are called on the posting thread, if their handlers ran only on one other thread.
    static let onPostingThread = Detector(
        "onPostingThread", "handlers ran only on a thread that did not add the observer, because it posted"
    ) { onPostingThreads($0, areSeveral: false) }

    private struct Calls {
        let first: RecordingIndex.Span
        var counts: [Int32: Int] = [:]
    }

    /// Notifications that were handled on another thread than declared (guarantee 1), and handlers of a Foundation
    /// center that ran on another thread although their observer was added on main. One finding for each observer.
    ///
    /// A handler of a Foundation center is a problem if it ran on main and elsewhere. If it ran elsewhere only, that may be
    /// intended: observers are often added when the program starts.
    private static func elsewhere(_ evidence: Evidence) -> [Finding] {
        let words = evidence.words
        let index = words.index
        /// By observer, name if the observer is not registered, and declared thread.
        var found: [[Int32]: Calls] = [:]
        /// The observers whose handlers ran on their declared thread too.
        var ranThere: Set<Int32> = []
        for span in index.spans where !span.isWait {
            let entry = index.entry(span.begin)
            let declared = declared(entry, span, index)
            guard declared >= 0 else { continue }
            guard declared != entry.thread else {
                ranThere.insert(entry.observer)
                continue
            }
            found[[entry.observer, words.observedName(entry), declared], default: Calls(first: span)].counts[
                entry.thread, default: 0] += 1
        }
        return found.map { key, calls in
            let entry = index.entry(calls.first.begin)
            let (declared, times) = (words.thread(key[2]), words.times(calls.counts.values.reduce(0, +)))
            let others = words.threads(calls.counts.keys.sorted())
            let observer = words.observer(entry.observer, name: key[1])
            let evidence = [words.registered(entry.observer), words.posted(entry), calls.first.begin]
            let weight = calls.counts.values.reduce(0, +)
            guard entry.isFoundation else {
                return Finding(
                    severity: .problem,
                    problem: "\(observer) should be handled on \(declared) but was handled on " + "\(others) \(times).",
                    evidence: evidence,
                    remedy: "Only the center should call the handler. If no other code calls it, report this recording "
                        + "as a bug of the library.", weight: weight, name: key[1])
            }
            let isProblem = ranThere.contains(entry.observer)
            let remedy =
                "Observe with ThreadedNotificationCenter: addObserver(forName:on: .main), or post on \(declared). "
                + "NotificationCenter's addObserver(queue: .main) also runs the handler on \(declared), but the "
                + "post then waits for it. If any thread may run the handler, accept this finding."
            return Finding(
                severity: isProblem ? .problem : .note,
                problem: "\(observer) was added on \(declared), but its handler ran on "
                    + "\(others) \(times)\(isProblem ? ", and on \(declared) too" : ""), because NotificationCenter "
                    + "calls handlers on the thread that posts.", evidence: evidence,
                remedy: isProblem || key[1] < 0
                    ? remedy
                    : "If it must run on \(declared), check that with the rule "
                        + "'\(Rule.name(words.recording.strings[Int(key[1])])) on main'. " + remedy, weight: weight,
                name: key[1])
        }
    }

    /// The thread that was declared to handle it; -1 if none was.
    private static func declared(_ entry: Recording.Entry, _ span: RecordingIndex.Span, _ index: RecordingIndex)
        -> Int32
    {
        let registration = index.registration(of: entry.observer)
        if entry.isAsyncHandlerOfFoundation { return -1 }
        if entry.isFoundation { return registration.map(index.expectedThread) ?? -1 }
        if let declared = registration?.target, declared >= 0 { return declared }
        let append = span.delivery < 0 ? -1 : index.deliveries[Int(span.delivery)].append
        if append >= 0, index.entry(append).target >= 0 { return index.entry(append).target }
        return entry.target
    }

    /// Observers that are called on the posting thread, if their handlers ran on several threads, or only on a thread
    /// that did not add the observer.
    ///
    /// Several threads are a problem if one of them is main, or if handlers ran on two threads at the same time;
    /// otherwise a note. One other thread is a note.
    private static func onPostingThreads(_ evidence: Evidence, areSeveral: Bool) -> [Finding] {
        let words = evidence.words
        let index = words.index
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
        return Dictionary(grouping: handlers, by: index.observer).compactMap { observer, calls in
            let registered = words.registered(observer)
            let all = Set(calls.map(\.thread)).sorted()
            let threads = words.threads(all)
            guard areSeveral == (all.count > 1), areSeveral || all[0] != index.entry(registered).thread else {
                return nil
            }
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
                ? "ran on \(all.count) threads (\(threads))\(overlap ? ", two at the same time," : "")"
                : "ran only on \(threads), not on \(words.thread(index.entry(registered).thread)), which added it,"
            let isProblem = areSeveral && (overlap || all.contains { index.isMain($0) })
            return Finding(
                severity: isProblem ? .problem : .note,
                problem: "Handlers of \(words.observer(observer)) \(ran) because the observer is called on the posting "
                    + "thread.",
                evidence: [registered, calls[0].begin, calls.first { $0.thread != calls[0].thread }?.begin ?? -1],
                remedy: (index.entry(registered).isFoundation ? "Observe with ThreadedNotificationCenter. " : "")
                    + "Add the observer for the thread that should handle it: addObserver(forName:on:) with .main, "
                    + ".current or a RunLoopThread. Keep .postingThread only for handlers that any thread may run.",
                weight: all.count, name: index.entry(registered).name, formerKind: areSeveral ? "severalThreads" : nil,
                sortedAs: areSeveral ? .waitTimedOut : nil)
        }
    }
}
