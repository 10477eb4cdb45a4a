package import DeliveryRecording
internal import TerminalText
internal import ThreadedNotifications

/// Writes a recording as JSON in Chrome's trace event format, which https://ui.perfetto.dev can open.
///
/// Spans: handlers, blocks and waits, from their records to those of their ends. A post, and a handler without a
/// recorded return, is a span of a microsecond, or less if its thread continues earlier. Another span without a recorded
/// end ends with its thread or the recording, and says so.
/// Arrows: from the post, or the `enqueue`, to each handler.
///
/// Times are microseconds with three decimals, which Perfetto reads exactly; it rounds durations, so each span has two
/// events. Old versions search for the `ts` without parsing escapes, so it comes before all texts.
package struct ChromeTrace {
    private let index: RecordingIndex
    private let selection: RecordingSelection
    private var recording: Recording { index.recording }
    private let start: UInt64
    private var text = ""
    /// The number of events.
    private var count = 0
    /// For each thread: `"pid":1,"tid":2`.
    private let tracks: [String]
    /// For each thread: the beginnings of its open spans, the innermost last.
    private var open: [[Int32]]
    /// For each thread: when its last record was a post, its time.
    private var moments: [UInt64?]
    /// JSON strings.
    private let strings: [String]

    /// The duration of a post, unless its thread has an earlier record.
    private static let moment: UInt64 = 1000

    private init(_ index: RecordingIndex, _ selection: RecordingSelection) {
        (self.index, self.selection) = (index, selection)
        let recording = index.recording
        start = recording.entries.first?.time ?? 0
        strings = recording.strings.map(ShownText.quoted)
        let identifiers = TraceIdentifiers(recording)
        tracks = zip(recording.threads, identifiers.threads).map {
            "\"pid\":\(identifiers.processes[Int($0.process)]),\"tid\":\($1)"
        }
        open = recording.threads.map { _ in [] }
        moments = recording.threads.map { _ in nil }
        for (process, id) in zip(recording.processes, identifiers.processes) {
            add("M", "\"pid\":\(id),\"name\":\"process_name\",\"args\":{\"name\":\(ShownText.quoted(process.name))}")
        }
        for (thread, track) in tracks.enumerated() {
            let (name, order) = (identifiers.names[thread], recording.threads[thread].identity.number)
            add("M", "\(track),\"name\":\"thread_name\",\"args\":{\"name\":\(ShownText.quoted(name))}")
            add("M", "\(track),\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":\(order)}")
        }
    }

    /// - Parameters:
    ///   - selection: the records to write; by default all.
    ///   - progress: called from time to time with the number of records written.
    ///   - write: called with consecutive parts of the text, about 65,536 bytes each.
    /// - Returns: the number of events.
    @discardableResult
    package static func write(
        _ index: RecordingIndex, _ selection: RecordingSelection? = nil, progress: (Int) -> Void = { _ in },
        to write: ([UInt8]) throws -> Void
    ) rethrows -> Int {
        var trace = ChromeTrace(index, selection ?? RecordingSelection(all: index.recording))
        try write(Array("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[".utf8))
        for (number, entry) in index.recording.entries.enumerated() {
            trace.add(entry, Int32(number))
            guard trace.text.utf8.count >= 65_536 else { continue }
            progress(number)
            try write(Array(trace.text.utf8))
            trace.text.removeAll(keepingCapacity: true)
        }
        let end = (index.recording.entries.last?.time ?? 0) &- trace.start
        for thread in trace.open.indices { trace.close(thread, through: nil, at: end, isRecorded: false) }
        let source = ShownText.quoted(index.recording.source)
        trace.text += "\n],\"otherData\":{\"source\":\(source),\"records\":\"\(index.recording.entries.count)\"}}\n"
        try write(Array(trace.text.utf8))
        return trace.count
    }

    // MARK: Spans

    private mutating func add(_ entry: Recording.Entry, _ number: Int32) {
        let (thread, now) = (Int(entry.thread), entry.time &- start)
        endMoment(thread, at: now)
        switch entry.stage {
        case .post, .enqueue, .capture, .append:
            let post = entry.post < 0 ? nil : index.posts[Int(entry.post)]
            guard post?.enqueued == number || post != nil && index.origin(ofPost: entry.post) == number,
                selection.contains(entry)
            else { return }
            begin(number, entry, isMoment: true)
        case .deliver, .wait:
            guard selection.contains(entry), index.spanOfEntry[Int(number)] >= 0 else { return }
            let isMoment = index.spans[Int(index.spanOfEntry[Int(number)])].ending == .notRecorded
            begin(number, entry, isMoment: isMoment)
            if !isMoment { open[thread].append(number) }
        case .return, .waitEnd:
            let begin = index.partner(of: number)
            if open[thread].contains(begin) { close(thread, through: begin, at: now) }
        case .threadEnd:
            close(thread, through: nil, at: now, isRecorded: false)
        default: break
        }
    }

    private mutating func begin(_ number: Int32, _ entry: Recording.Entry, isMoment: Bool) {
        let (thread, now) = (Int(entry.thread), entry.time &- start)
        let stage = entry.stage.rawValue
        let name = entry.name >= 0 ? strings[Int(entry.name)] : "\"block\""
        let title =
            switch entry.stage {
            case .deliver: name
            case .wait: "\"wait\""
            default: "\"\(stage) \(name.dropFirst())"
            }
        add("B", thread, at: now, "\"cat\":\"\(stage)\",\"name\":\(title),\(arguments(number, entry))")
        addArrows(number, entry)
        if isMoment { moments[thread] = now }
    }

    private mutating func endMoment(_ thread: Int, at now: UInt64) {
        guard let begin = moments[thread] else { return }
        add("E", thread, at: begin + min(now - begin, Self.moment))
        moments[thread] = nil
    }

    /// Ends the spans of a thread from the innermost through one of them; all if it is nil.
    private mutating func close(_ thread: Int, through begin: Int32?, at now: UInt64, isRecorded: Bool = true) {
        endMoment(thread, at: now)
        while let last = open[thread].popLast() {
            add("E", thread, at: now, isRecorded && last == begin ? "" : "\"args\":{\"end\":\"not recorded\"}")
            if last == begin { return }
        }
    }

    /// An arrow's number is that of the record where it ends.
    private mutating func addArrows(_ number: Int32, _ entry: Recording.Entry) {
        guard entry.post >= 0 else { return }
        let (thread, now) = (Int(entry.thread), entry.time &- start)
        func flow(_ end: Int32) -> String { "\"cat\":\"delivery\",\"name\":\"delivery\",\"id\":\(end + 1)" }
        if arrowBegin(number) >= 0 { add("f", thread, at: now, flow(number) + ",\"bp\":\"e\"") }
        let handlers = index.deliveries(ofPost: entry.post).map { index.deliveries[$0].span }
            .filter { $0 >= 0 }.map { index.spans[Int($0)].begin }
        for end in [index.posts[Int(entry.post)].posted] + handlers
        where end > number && selection.contains(index.entry(end)) && arrowBegin(end) == number {
            add("s", thread, at: now, flow(end))
        }
    }

    /// The post of a handler, or the `enqueue` of a post, where the arrow to it begins; -1 if it has none.
    private func arrowBegin(_ number: Int32) -> Int32 {
        let (post, span) = (index.entry(number).post, index.spanOfEntry[Int(number)])
        let delivery = span < 0 ? -1 : index.spans[Int(span)].delivery
        let isCall = delivery >= 0 && index.deliveries[Int(delivery)].span == span
        let begin =
            number == index.posts[Int(post)].posted
            ? index.posts[Int(post)].enqueued : isCall ? index.origin(ofPost: post) : -1
        return begin >= 0 && begin < number && selection.contains(index.entry(begin)) ? begin : -1
    }

    // MARK: Events

    private func arguments(_ number: Int32, _ entry: Recording.Entry) -> String {
        func location(_ entry: Recording.Entry?) -> String? {
            entry.flatMap(recording.location).map { ShownText.quoted($0.description) }
        }
        let origin = entry.post < 0 ? -1 : index.origin(ofPost: entry.post)
        let isLater = origin >= 0 && origin < number
        let values: [(String, String?)] = [
            ("record", "\(entry.line > 0 ? Int(entry.line) : Int(number) + 1)"),
            ("post", entry.post < 0 ? nil : "\(recording.posts[Int(entry.post)].number)"),
            ("observer", entry.observer < 0 ? nil : "\(recording.observers[Int(entry.observer)].number)"),
            ("message", recording.words(of: entry).map(ShownText.quoted)),
            ("location", location(entry)), ("posted at", isLater ? location(index.entry(origin)) : nil),
            ("registered at", location(index.registration(of: entry.observer))),
            ("ns since post", isLater ? "\(index.time(from: origin, to: number))" : nil),
        ]
        let shown = values.compactMap { key, value in value.map { "\"\(key)\":\($0)" } }
        return "\"args\":{\(shown.joined(separator: ","))}"
    }

    private mutating func add(_ phase: String, _ thread: Int, at time: UInt64, _ rest: String = "") {
        let fraction = String(time % 1000 + 1000).dropFirst()
        add(phase, "\"ts\":\(time / 1000).\(fraction),\(tracks[thread])\(rest.isEmpty ? "" : ",")\(rest)")
    }

    private mutating func add(_ phase: String, _ rest: String) {
        text += "\(count > 0 ? ",\n" : "\n"){\"ph\":\"\(phase)\",\(rest)}"
        count += 1
    }
}
