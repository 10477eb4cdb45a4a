internal import DeliveryRecording
internal import ThreadedNotifications

/// What threads are doing while another thread waits for them.
struct Occupations {
    let targets: WaitTargets
    private let words: RecordWords
    /// For each thread: its records except `end`, and except those of unknown threads, ascending.
    private let records: [[Int32]]

    init(_ words: RecordWords) {
        self.words = words
        targets = WaitTargets(words.recording)
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

    /// The innermost handler or block that a thread is in when another record is made, or when the recording ends.
    func handler(of thread: Int32, at end: Int32?) -> RecordingIndex.Span? {
        let (index, last) = (words.index, record(of: thread, at: end))
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

    /// True for a main thread that was in no handler and no wait, and recorded nothing, while another thread waited for
    /// it: then its run loop may not run.
    func isSilentMain(_ thread: Int32, at end: Int32?, since begin: Int32) -> Bool {
        let last = record(of: thread, at: end)
        return words.index.isMain(thread) && last < begin && handler(of: thread, at: end) == nil
            && (last < 0 || words.index.entry(last).stage != .wait)
    }

    /// For example `main is in the handler of observer 3 of Done, added at Demo/main.swift:7, since 2 s`.
    ///
    /// - Parameters:
    ///   - end: the record when it is asked; nil means the end of the recording.
    ///   - begin: the record since when another thread waits for it.
    func words(of thread: Int32, at end: Int32?, since begin: Int32) -> String {
        let name = words.thread(thread)
        let verb = end == nil ? "is" : "was"
        if let handler = handler(of: thread, at: end) {
            let entry = words.index.entry(handler.begin)
            let last = end ?? words.index.processes[words.recording.process(of: entry)].last
            let since = ElapsedTime.text(words.index.time(from: handler.begin, to: last))
            return "\(name) \(verb) in "
                + "\(words.handler(handler))\(words.location(of: words.registered(entry.observer), ", added at ")), "
                + "\(end == nil ? "since" : "for") \(since)"
        }
        if end != nil { return "\(name) was in no handler" }
        let last = record(of: thread, at: nil)
        if last < 0 { return "\(name) has recorded nothing" }
        let record = "its last record is: \(words.threadAndWords(last))"
        return last < begin ? "\(name) has recorded nothing since, \(record)" : "\(name) continues, \(record)"
    }
}

/// The threads that a wait is for: the target, or the threads that the message names.
struct WaitTargets {
    private let recording: Recording
    private var threads: [Recording.Numbered: Int32] = [:]

    init(_ recording: Recording) {
        self.recording = recording
        for (number, thread) in recording.threads.enumerated() {
            threads[Recording.Numbered(process: thread.process, number: thread.identity.number)] = Int32(number)
        }
    }

    /// The source location of a `wait` or `refuseWait`, or its message if the location is unknown.
    static func location(_ entry: Recording.Entry) -> Int64 {
        entry.location >= 0 ? Int64(entry.location) : -1 - Int64(entry.message)
    }

    func of(_ entry: Recording.Entry) -> [Int32] {
        if entry.target >= 0 { return [entry.target] }
        guard let message = recording.message(of: entry) else { return [] }
        let process = recording.threads[Int(entry.thread)].process
        return MessagePart.parts(of: message).compactMap { part -> Int32? in
            guard case .thread(let thread) = part, !thread.isKernelID else { return nil }
            return threads[Recording.Numbered(process: process, number: thread.number)]
        }
    }
}
