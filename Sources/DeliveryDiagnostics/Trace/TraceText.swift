internal import DeliveryRecording
internal import ThreadedNotifications

/// Writes trace events as JSON.
///
/// The `ts` of each event comes before its texts, because old versions of Perfetto search for it without parsing `\u`
/// escapes. Times are microseconds with three decimals, which Perfetto reads exactly. Durations are not used because
/// Perfetto rounds them. Times are in nanoseconds since the recording's first record; threads are tracks.
struct TraceText {
    enum FlowPhase {
        case start, step, end
    }

    var bytes: [UInt8] = []
    private(set) var count = 0
    private let recording: Recording
    private let index: RecordingIndex
    /// For each string, location and thread: its JSON form without the opening quotation mark.
    private let strings: [[UInt8]]
    private let locations: [[UInt8]]
    private let names: [[UInt8]]
    /// For each thread: `,"pid":1,"tid":2`.
    private let tracks: [[UInt8]]
    /// For each thread: the names of its counters.
    private let mailboxes: [[UInt8]]
    private let queues: [[UInt8]]

    /// Begins with the names of the tracks.
    init(_ index: RecordingIndex) {
        self.index = index
        recording = index.recording
        let identifiers = TraceIdentifiers(recording)
        strings = recording.strings.map { Self.escaped($0) }
        locations = recording.locations.map { Self.escaped($0.description) }
        names = identifiers.names.map { Self.escaped($0) }
        tracks = zip(recording.threads, identifiers.threads).map { thread, id in
            Array(",\"pid\":\(identifiers.processes[Int(thread.process)]),\"tid\":\(id)".utf8)
        }
        mailboxes = identifiers.names.map { Self.escaped("mailbox of \($0)") }
        queues = identifiers.names.map { Self.escaped("posting queue of \($0)") }
        bytes.reserveCapacity(80_000)
        append("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")
        for (process, identity) in recording.processes.enumerated() {
            let track = Array(",\"pid\":\(identifiers.processes[process])".utf8)
            metadata("process", track, Self.escaped(identity.name), order: process)
        }
        for (thread, numbered) in recording.threads.enumerated() {
            metadata("thread", tracks[thread], names[thread], order: numbered.identity.number)
        }
    }

    private mutating func metadata(_ kind: StaticString, _ track: [UInt8], _ name: [UInt8], order: Int) {
        for (key, value) in [("name", [34] + name), ("sort_index", Array("\(order)".utf8))] {
            separate()
            append("{\"ph\":\"M\"", track)
            bytes += ",\"name\":\"\(kind)_\(key)\",\"args\":{\"\(key)\":".utf8 + value + "}}".utf8
        }
    }

    mutating func end() {
        append("\n],\"otherData\":{\"source\":\"", Self.escaped(recording.source))
        bytes += ",\"records\":\"\(recording.entries.count)\"".utf8
        bytes += ",\"begin, monotonic ns\":\"\(recording.entries.first?.time ?? 0)\"}}\n".utf8
    }

    // MARK: Events

    mutating func begin(_ number: Int32, at time: UInt64) {
        let entry = recording.entries[Int(number)]
        event("B", Int(entry.thread), at: time)
        title(entry)
        arguments(entry, number)
    }

    mutating func end(_ thread: Int, at time: UInt64, isRecorded: Bool) {
        event("E", thread, at: time)
        append(isRecorded ? "}" : ",\"args\":{\"end\":\"not recorded\"}}")
    }

    mutating func instant(_ number: Int32, at time: UInt64) {
        let entry = recording.entries[Int(number)]
        event("i", Int(entry.thread), at: time)
        title(entry)
        switch entry.stage {
        case .processStart, .processEnd, .fork, .lost, .end: append(",\"s\":\"p\"")
        default: append(",\"s\":\"t\"")
        }
        arguments(entry, number)
    }

    /// - Parameter id: a record that identifies the flow.
    mutating func flow(_ phase: FlowPhase, _ id: Int32, _ thread: Int, at time: UInt64) {
        event(phase == .start ? "s" : phase == .step ? "t" : "f", thread, at: time)
        append(",\"cat\":\"delivery\",\"name\":\"delivery\",\"id\":", UInt64(id) + 1)
        append(phase == .end ? ",\"bp\":\"e\"}" : "}")
    }

    mutating func counter(_ thread: Int, isOfQueue: Bool, _ value: Int, at time: UInt64) {
        event("C", thread, at: time)
        append(",\"name\":\"", isOfQueue ? queues[thread] : mailboxes[thread])
        append(",\"args\":{\"waiting\":", UInt64(max(0, value)))
        append("}}")
    }

    private mutating func event(_ phase: StaticString, _ thread: Int, at time: UInt64) {
        separate()
        append("{\"ph\":\"")
        append(phase)
        append("\",\"ts\":", time / 1000)
        let rest = UInt8(truncatingIfNeeded: time % 1000 / 10)
        append(".")
        bytes.append(48 + rest / 10)
        bytes.append(48 + rest % 10)
        bytes.append(48 + UInt8(truncatingIfNeeded: time % 10))
        bytes += tracks[thread]
    }

    private mutating func title(_ entry: Recording.Entry) {
        let isHandler = entry.stage == .deliver
        append(",\"cat\":\"")
        bytes += entry.stage.rawValue.utf8
        append("\",\"name\":\"")
        if !isHandler { bytes += entry.stage.rawValue.utf8 }
        if entry.name >= 0 {
            append(isHandler ? "" : " ", strings[Int(entry.name)])
        } else {
            append(entry.post < 0 ? "\"" : isHandler ? "block\"" : " block\"")
        }
    }

    private mutating func arguments(_ entry: Recording.Entry, _ number: Int32) {
        append(",\"args\":{\"record\":", UInt64(entry.line > 0 ? entry.line : number + 1))
        if entry.post >= 0 { append(",\"post\":", signed: recording.posts[Int(entry.post)].number) }
        if entry.observer >= 0 { append(",\"observer\":", signed: recording.observers[Int(entry.observer)].number) }
        if entry.target >= 0 { append(",\"target\":\"", names[Int(entry.target)]) }
        if entry.message >= 0, entry.reason == nil, !entry.stage.isWait {
            append(",\"message\":\"", strings[Int(entry.message)])
        } else if let details = recording.words(of: entry) {
            append(",\"message\":\"", Self.escaped(details))
        }
        if entry.count >= 0 { append(",\"count\":", UInt64(entry.count)) }
        if entry.location >= 0 { append(",\"location\":\"", locations[Int(entry.location)]) }
        if entry.relatedPost >= 0 {
            append(",\"related post\":", signed: recording.posts[Int(entry.relatedPost)].number)
        }
        let posted = index.posted(number)
        if posted >= 0, index.entry(posted).location >= 0 {
            append(",\"posted at\":\"", locations[Int(index.entry(posted).location)])
        }
        if entry.stage != .register, let location = index.registration(of: entry.observer)?.location, location >= 0 {
            append(",\"registered at\":\"", locations[Int(location)])
        }
        if entry.stage.isOutcome || entry.stage == .post {
            if posted >= 0 { append(",\"ns since post\":", entry.time - index.entry(posted).time) }
            let begun = index.waitBegin(number)
            if begun >= 0 { append(",\"ns waited\":", entry.time - index.entry(begun).time) }
        }
        append("}}")
    }

    private mutating func separate() {
        append(count > 0 ? ",\n" : "\n")
        count += 1
    }

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func append(_ key: StaticString, _ value: [UInt8]) {
        append(key)
        bytes += value
    }

    private mutating func append(_ key: StaticString, signed value: Int) {
        append(key)
        append(value < 0 ? "-" : "", UInt64(value.magnitude))
    }

    private mutating func append(_ key: StaticString, _ number: UInt64) {
        append(key)
        var size: UInt64 = 1
        while number / size >= 10 { size *= 10 }
        while size > 0 {
            bytes.append(48 + UInt8(truncatingIfNeeded: number / size % 10))
            size /= 10
        }
    }

    /// The text as a JSON string, without the opening quotation mark.
    private static func escaped(_ text: String) -> [UInt8] {
        Array(ShownText.quoted(text).utf8.dropFirst())
    }
}
