internal import DeliveryRecording

/// Finds observers that are called on the posting thread, if their handlers ran on several threads, or only on a thread
/// that did not add the observer.
///
/// Several threads are a problem if one of them is main, or if handlers ran on two threads at the same time; otherwise
/// a note. One other thread is a note.
enum SeveralThreads {
    /// - Parameter isSeveral: true for several threads, false for one other thread.
    static func findings(_ evidence: Evidence, isSeveral: Bool) -> [Finding] {
        let words = evidence.words
        let index = words.index
        let isCalledByPoster = index.observers.indices.map { observer in
            // Observers of a Foundation center that were added on main are findings of `WrongThread`.
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
            guard isSeveral == (all.count > 1), isSeveral || all[0] != index.entry(registered).thread else {
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
                isSeveral
                ? "ran on \(all.count) threads (\(threads))\(overlap ? ", two at the same time," : "")"
                : "ran only on \(threads), not on \(words.thread(index.entry(registered).thread)), which added it,"
            let isProblem = isSeveral && (overlap || all.contains { index.isMain($0) })
            return Finding(
                severity: isProblem ? .problem : .note,
                problem: "Handlers of \(words.observer(observer)) \(ran) because the observer is called on the posting "
                    + "thread.",
                evidence: [registered, calls[0].begin, calls.first { $0.thread != calls[0].thread }?.begin ?? -1],
                remedy: (index.entry(registered).isFoundation ? "Observe with ThreadedNotificationCenter. " : "")
                    + "Add the observer for the thread that should handle it: addObserver(forName:on:) with .main, "
                    + ".current or a RunLoopThread. Keep .postingThread only for handlers that any thread may run.",
                weight: all.count, name: index.entry(registered).name)
        }
    }
}

extension Finding.Kind {
    static let onPostingThread = Finding.Kind(
        "onPostingThread", "handlers ran only on a thread that did not add the observer, because it posted")
}
