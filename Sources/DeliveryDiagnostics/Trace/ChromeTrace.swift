package import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// Writes a recording as JSON in Chrome's trace event format, which https://ui.perfetto.dev can open.
///
/// Spans: handlers, blocks and waits, from their records to those of their ends, and posts, without a duration. A span
/// without a recorded end ends with the span around it, its thread or the recording.
/// Arrows: from the post, or the `enqueue`, to each handler, as its flow with the number of the post.
///
/// Processes and threads have numbers of the trace, because viewers identify them by their numbers alone. Times are
/// microseconds with three decimals, which Perfetto reads exactly; it rounds durations, so each span has two events.
package struct ChromeTrace {
    private let index: RecordingIndex
    private let words: RecordWords
    private let selection: RecordingSelection
    private var text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["
    private var separator = "\n"
    /// For each thread: the spans that have begun, in `index.spans`, the innermost last.
    private var open: [[Int32]]

    /// - Parameters:
    ///   - selection: the records to write; by default all.
    ///   - write: called with consecutive parts of the text, about 65,536 bytes each.
    package static func write(
        _ index: RecordingIndex, _ selection: RecordingSelection? = nil, to write: ([UInt8]) throws -> Void
    ) rethrows {
        var trace = ChromeTrace(index, selection ?? RecordingSelection(all: index))
        for (number, entry) in index.recording.entries.enumerated() {
            trace.add(Int32(number), entry)
            guard trace.text.utf8.count >= 65_536 else { continue }
            try write(Array(trace.text.utf8))
            trace.text = ""
        }
        let end = index.recording.entries.last?.time ?? 0
        for (thread, spans) in trace.open.enumerated() { for _ in spans { trace.add("E", thread, at: end) } }
        try write(Array("\(trace.text)\n]}\n".utf8))
    }

    private init(_ index: RecordingIndex, _ selection: RecordingSelection) {
        (self.index, self.selection, words) = (index, selection, RecordWords(index: index))
        open = index.recording.threads.map { _ in [] }
        for (number, process) in index.recording.processes.enumerated() {
            describe("\"pid\":\(number + 1)", "process_name", name: "\(process.name) \(process.id)")
        }
        for number in index.recording.threads.indices {
            describe(track(number), "thread_name", name: words.bareThread(Int32(number)))
        }
    }

    private mutating func add(_ number: Int32, _ entry: Recording.Entry) {
        let (thread, span) = (Int(entry.thread), index.spanOfEntry[Int(number)])
        while let last = open[thread].last, index.spans[Int(last)].end == number {
            open[thread].removeLast()
            add("E", thread, at: entry.time)
        }
        switch entry.stage {
        case .post, .enqueue, .capture, .append:
            guard entry.post >= 0, selection.contains(entry),
                index.posts[Int(entry.post)].enqueued == number || index.origin(ofPost: entry.post) == number
            else { return }
            begin(number, entry)
            add("E", thread, at: entry.time)
        case .deliver, .wait:
            guard selection.contains(entry), span >= 0 else { return }
            begin(number, entry)
            if index.spans[Int(span)].ending != .notRecorded { return open[thread].append(span) }
            add("E", thread, at: entry.time)
        default: break
        }
    }

    private mutating func begin(_ number: Int32, _ entry: Recording.Entry) {
        let (stage, name) = (entry.stage.rawValue, index.recording.name(of: entry) ?? "block")
        let title = entry.stage == .deliver ? name : entry.stage == .wait ? stage : "\(stage) \(name)"
        var flow = ""
        if entry.post >= 0, entry.stage != .wait {
            let isPosted = index.posts[Int(entry.post)].enqueued >= 0 && index.posts[Int(entry.post)].posted == number
            flow = "\"bind_id\":\"0x\(String(entry.post + 1, radix: 16))\","
            if isPosted || entry.stage == .deliver { flow += "\"flow_in\":true," }
            if entry.stage != .deliver { flow += "\"flow_out\":true," }
        }
        let arguments = "\"line\":\(entry.line),\"record\":\(ShownText.quoted(words.threadAndWords(number)))"
        add(
            "B", Int(entry.thread), at: entry.time,
            ",\"cat\":\"\(stage)\",\"name\":\(ShownText.quoted(title)),\(flow)\"args\":{\(arguments)}")
    }

    // MARK: Events

    private func track(_ thread: Int) -> String {
        "\"pid\":\(index.recording.threads[thread].process + 1),\"tid\":\(thread + 1)"
    }

    private mutating func describe(_ track: String, _ what: String, name: String) {
        add("\"ph\":\"M\",\(track),\"name\":\"\(what)\",\"args\":{\"name\":\(ShownText.quoted(name))}")
    }

    private mutating func add(_ phase: String, _ thread: Int, at time: UInt64, _ rest: String = "") {
        let elapsed = time &- (index.recording.entries.first?.time ?? 0)
        let fraction = String(elapsed % 1000 + 1000).dropFirst()
        add("\"ph\":\"\(phase)\",\"ts\":\(elapsed / 1000).\(fraction),\(track(thread))\(rest)")
    }

    private mutating func add(_ event: String) {
        text += "\(separator){\(event)}"
        separator = ",\n"
    }
}
