internal import DeliveryRecording

/// What threads are doing while another thread waits for them.
///
/// `end` is the record when it is asked, nil means the end of the recording. `begin` is the record since when another
/// thread waits.
struct Occupations {
    private let words: RecordWords
    private var index: RecordingIndex { words.index }
    /// For each thread: its records except `end`, and except those of unknown threads, ascending.
    private let records: [[Int32]]

    init(_ words: RecordWords) {
        self.words = words
        records = words.index.threads.map { thread in
            sequence(first: thread.last) { words.index.before[Int($0)] }.prefix { $0 >= 0 }.filter {
                words.index.entry($0).isThreadKnown
            }.reversed()
        }
    }

    /// The last record of a thread before another record, or of all; -1 if it has none.
    func record(of thread: Int32, at end: Int32?) -> Int32 {
        let records = records[Int(thread)]
        let count = end.map { records.firstIndex(after: $0 - 1) } ?? records.count
        return count == 0 ? -1 : records[count - 1]
    }

    /// The innermost handler or block that a thread is in.
    func handler(of thread: Int32, at end: Int32?) -> RecordingIndex.Span? {
        let last = record(of: thread, at: end)
        guard last >= 0 else { return nil }
        var span = index.spanOfEntry[Int(last)]
        if span < 0 {
            span = index.spanAroundEntry[Int(last)]
        } else if index.spans[Int(span)].begin != last {
            span = index.spans[Int(span)].outer
        } else if index.spans[Int(span)].ending == .notRecorded {
            span = -1
        }
        let handler = index.handler(span)
        return handler < 0 ? nil : index.spans[Int(handler)]
    }

    /// Advice, if one of the threads is a main thread that was in no handler and no wait, and recorded nothing, while
    /// another thread waited for it: then its run loop may not run.
    func advice(_ threads: [Int32], at end: Int32?, since begin: Int32) -> String {
        let isSilentMain = threads.contains { thread in
            let last = record(of: thread, at: end)
            return index.isMain(thread) && last < begin && handler(of: thread, at: end) == nil
                && (last < 0 || index.entry(last).stage != .wait)
        }
        return isSilentMain ? " \(Detector.asyncMain)" : ""
    }

    /// For example `main is in the handler of observer 3 of Done, added at Demo/main.swift:7, since 2 s`.
    func words(of thread: Int32, at end: Int32?, since begin: Int32) -> String {
        let (name, isNow) = (words.thread(thread), end == nil)
        if let handler = handler(of: thread, at: end) {
            let entry = index.entry(handler.begin)
            let last = end ?? index.processes[words.recording.process(of: entry)].last
            return "\(name) \(isNow ? "is" : "was") in "
                + "\(words.handler(handler))\(words.location(of: words.registered(entry.observer), ", added at ")), "
                + "\(isNow ? "since" : "for") \(ElapsedTime.text(index.time(from: handler.begin, to: last)))"
        }
        if !isNow { return "\(name) was in no handler" }
        let last = record(of: thread, at: nil)
        if last < 0 { return "\(name) has recorded nothing" }
        return "\(name) \(last < begin ? "has recorded nothing since" : "continues"), its last record is: "
            + words.threadAndWords(last)
    }
}
