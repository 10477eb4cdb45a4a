internal import DeliveryRecording

/// Finds observers that are called on the posting thread, if their handlers ran on several threads, or only on a thread
/// that did not add the observer.
///
/// Several threads are a problem if one of them is main, or if handlers ran on two threads at the same time; otherwise
/// a note. One other thread is a note.
enum SeveralThreads {
    /// The calls of an observer.
    private struct Calls {
        var threads: Set<Int32>
        /// The span that ends last so far.
        var last: Int
        var first: Int32
        /// The first call on a second thread, or -1.
        var second: Int32 = -1
        /// True if calls on two threads overlapped.
        var overlap = false

        mutating func add(_ number: Int, _ index: RecordingIndex) {
            let (span, before) = (index.spans[number], index.spans[last])
            threads.insert(span.thread)
            if second < 0, span.thread != index.entry(first).thread { second = span.begin }
            if span.thread != before.thread, before.end < 0 || before.end > span.begin { overlap = true }
            if before.end >= 0, span.end < 0 || span.end > before.end { last = number }
        }
    }

    static func findings(_ words: RecordWords) -> [Finding] {
        let index = words.index
        let isCalledByPoster = index.observers.indices.map { index.registration(of: Int32($0))?.target ?? 0 < 0 }
        guard isCalledByPoster.contains(true) else { return [] }
        var calls: [Int32: Calls] = [:]
        for (number, span) in index.spans.enumerated() where !span.isWait {
            let observer = index.entry(span.begin).observer
            guard observer >= 0, isCalledByPoster[Int(observer)] else { continue }
            calls[observer, default: Calls(threads: [], last: number, first: span.begin)].add(number, index)
        }
        return calls.compactMap { observer, calls in
            let registered = words.registered(observer)
            let threads = words.threads(calls.threads.sorted())
            let hasMain = calls.threads.contains { index.isMain($0) }
            let isElsewhere = !calls.threads.contains(index.entry(registered).thread)
            guard calls.threads.count > 1 || isElsewhere else { return nil }
            let ran =
                calls.threads.count > 1
                ? "ran on \(calls.threads.count) threads (\(threads))\(calls.overlap ? ", two at the same time," : "")"
                : "ran only on \(threads), not on \(words.thread(index.entry(registered).thread)), which added it,"
            let isProblem = calls.threads.count > 1 && (hasMain || calls.overlap)
            return Finding(
                kind: calls.threads.count > 1 ? .severalThreads : .onPostingThread,
                severity: isProblem ? .problem : .note,
                problem: "Handlers of \(words.observer(observer)) \(ran) because the observer is called on the posting "
                    + "thread.",
                evidence: [registered, calls.first, calls.second],
                remedy: "Add the observer for the thread that should handle it: addObserver(forName:on:) with .main, "
                    + ".current or a RunLoopThread. Keep .postingThread only for handlers that any thread may run.",
                weight: calls.threads.count, name: index.entry(registered).name)
        }
    }
}
