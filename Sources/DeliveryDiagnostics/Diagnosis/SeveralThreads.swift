internal import DeliveryRecording
internal import ThreadedNotifications

/// Finds observers whose handlers ran on several threads, because they are called on the posting thread.
///
/// It is a problem if one of the threads is main, or if handlers ran on two threads at the same time; otherwise a note.
enum SeveralThreads {
    static func findings(_ audit: Audit) -> [Finding] {
        let index = audit.index
        var threads: [Int32: Set<Int32>] = [:]
        for line in audit.lines where line.observer >= 0 && !line.threads.isEmpty {
            guard let registration = index.registration(of: line.observer), registration.target < 0 else { continue }
            threads[line.observer, default: []].formUnion(line.threads)
        }
        threads = threads.filter { $0.value.count > 1 }
        guard !threads.isEmpty else { return [] }
        /// For each of these observers: the call that ends last so far, the first call on a second thread, and whether
        /// calls on two threads overlapped.
        var calls: [Int32: (last: Int, first: Int32, second: Int32, overlap: Bool)] = [:]
        for (number, span) in index.spans.enumerated() where !span.isWait {
            let observer = index.entry(span.begin).observer
            guard threads[observer] != nil else { continue }
            guard var call = calls[observer] else {
                calls[observer] = (number, span.begin, -1, false)
                continue
            }
            let last = index.spans[call.last]
            if call.second < 0, span.thread != index.entry(call.first).thread { call.second = span.begin }
            if span.thread != last.thread, last.end < 0 || last.end > span.begin { call.overlap = true }
            if last.end >= 0, span.end < 0 || span.end > last.end { call.last = number }
            calls[observer] = call
        }
        let words = RecordWords(index)
        return threads.compactMap { observer, threads in
            guard let call = calls[observer] else { return nil }
            let hasMain = threads.contains { index.recording.threads[Int($0)].identity.number == 1 }
            let name = index.registration(of: observer)?.name ?? -1
            return Finding(
                kind: .severalThreads, severity: hasMain || call.overlap ? .problem : .note,
                problem: "Handlers of \(words.observer(observer)) ran on \(threads.count) threads "
                    + "(\(words.threads(threads.sorted())))\(call.overlap ? ", two at the same time," : "") because "
                    + "the observer is called on the posting thread.",
                evidence: [words.registered(observer), call.first, call.second],
                remedy: "Add the observer for the thread that should handle it: addObserver(forName:on:) with .main, "
                    + ".current or a RunLoopThread. Keep .postingThread only for handlers that any thread may run.",
                weight: threads.count, name: name)
        }
    }
}
