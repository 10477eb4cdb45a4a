internal import DeliveryRecording
internal import ThreadedNotifications

/// Writes trace events as JSON.
///
/// The `ts` of each event comes before its texts, because old versions of Perfetto search for it without parsing `\u`
/// escapes. Times are microseconds with three decimals, which Perfetto reads exactly. Durations are not used because
/// Perfetto rounds them.
struct TraceText {
    var bytes: [UInt8] = []
    private(set) var count = 0
    private let recording: Recording
    private let index: RecordingIndex
    private let identifiers: TraceIdentifiers
    /// For each string: its JSON form without the opening quotation mark.
    private let strings: [[UInt8]]
    private let locations: [[UInt8]]
    /// For each thread: `,"pid":1,"tid":2`.
    private let tracks: [[UInt8]]
    /// For each thread: the name of a counter.
    private let mailboxes: [[UInt8]]
    private let queues: [[UInt8]]

    init(_ index: RecordingIndex) {
        self.index = index
        recording = index.recording
        let identifiers = TraceIdentifiers(recording)
        self.identifiers = identifiers
        strings = recording.strings.map { Self.escaped($0) }
        locations = recording.places.map { Self.escaped($0.description) }
        tracks = zip(recording.threads, identifiers.threads).map { thread, id in
            Array(",\"pid\":\(identifiers.processes[Int(thread.process)]),\"tid\":\(id)".utf8)
        }
        mailboxes = identifiers.names.map { Self.escaped("mailbox of \($0)") }
        queues = identifiers.names.map { Self.escaped("posting queue of \($0)") }
    }

    // MARK: The whole

    mutating func begin() {
        bytes += "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[".utf8
        for (process, identity) in recording.processes.enumerated() {
            let track = Array(",\"pid\":\(identifiers.processes[process])".utf8)
            metadata("process_name", track, "\"name\":\"", Self.escaped(identity.name))
            metadata("process_sort_index", track, "\"sort_index\":", Array("\(process)".utf8))
        }
        for (thread, numbered) in recording.threads.enumerated() {
            metadata("thread_name", tracks[thread], "\"name\":\"", Self.escaped(identifiers.names[thread]))
            metadata(
                "thread_sort_index", tracks[thread], "\"sort_index\":", Array("\(numbered.identity.number)".utf8))
        }
    }

    mutating func end() {
        bytes += "\n],\"otherData\":{\"source\":\"".utf8
        bytes += Self.escaped(recording.source)
        bytes += ",\"records\":\"\(recording.entries.count)\"".utf8
        bytes += ",\"begin, monotonic ns\":\"\(recording.entries.first?.time ?? 0)\"}}\n".utf8
    }

    private mutating func metadata(_ name: StaticString, _ track: [UInt8], _ key: StaticString, _ value: [UInt8]) {
        separate()
        append("{\"ph\":\"M\"")
        bytes += track
        append(",\"name\":\"")
        append(name)
        append("\",\"args\":{")
        append(key)
        bytes += value
        append("}}")
    }

    // MARK: Events

    mutating func append(_ event: TraceEvent) {
        separate()
        append("{\"ph\":\"")
        bytes.append(event.phase.rawValue)
        append("\",\"ts\":")
        append(microseconds: event.time)
        bytes += tracks[Int(event.thread)]
        switch event.phase {
        case .begin, .instant:
            appendTitle(event)
            appendArguments(event)
            append("}}")
        case .end:
            append(event.value == 0 ? "}" : ",\"args\":{\"end\":\"not recorded\"}}")
        case .flowStart, .flowStep, .flowEnd:
            append(",\"cat\":\"delivery\",\"name\":\"delivery\",\"id\":")
            append(UInt64(event.index) + 1)
            append(event.phase == .flowEnd ? ",\"bp\":\"e\"}" : "}")
        case .counter:
            append(",\"name\":\"")
            bytes += event.isOfQueue ? queues[Int(event.thread)] : mailboxes[Int(event.thread)]
            append(",\"args\":{\"waiting\":")
            append(UInt64(max(0, event.value)))
            append("}}")
        }
    }

    private mutating func appendTitle(_ event: TraceEvent) {
        let entry = recording.entries[Int(event.index)]
        append(",\"cat\":\"")
        bytes += entry.stage.rawValue.utf8
        append("\",\"name\":\"")
        if entry.stage != .deliver {
            bytes += entry.stage.rawValue.utf8
        }
        if entry.name >= 0 {
            if entry.stage != .deliver { append(" ") }
            bytes += strings[Int(entry.name)]
        } else if entry.post >= 0 {
            append(entry.stage == .deliver ? "block\"" : " block\"")
        } else {
            append("\"")
        }
    }

    private mutating func appendArguments(_ event: TraceEvent) {
        let entry = index.entry(event.index)
        if event.phase == .instant {
            append(isOfProcess(entry.stage) ? ",\"s\":\"p\"" : ",\"s\":\"t\"")
        }
        append(",\"args\":{\"record\":")
        append(UInt64(entry.line > 0 ? entry.line : event.index + 1))
        if entry.post >= 0 { append(",\"post\":", signed: recording.posts[Int(entry.post)].number) }
        if entry.observer >= 0 { append(",\"observer\":", signed: recording.observers[Int(entry.observer)].number) }
        if entry.target >= 0 { append(",\"target\":\"", Self.escaped(identifiers.names[Int(entry.target)])) }
        if entry.message >= 0, entry.reason == nil {
            append(",\"message\":\"", strings[Int(entry.message)])
        } else if let details = recording.details(of: entry) {
            append(",\"message\":\"", Self.escaped(details))
        }
        if entry.count >= 0 { append(",\"count\":", signed: Int(entry.count)) }
        if entry.place >= 0 { append(",\"place\":\"", locations[Int(entry.place)]) }
        if entry.relatedPost >= 0 {
            append(",\"related post\":", signed: recording.posts[Int(entry.relatedPost)].number)
        }
        let posted = index.posted(event.index)
        if posted >= 0, index.entry(posted).place >= 0 {
            append(",\"posted at\":\"", locations[Int(index.entry(posted).place)])
        }
        if entry.stage != .register, let place = index.registration(of: entry.observer)?.place, place >= 0 {
            append(",\"registered at\":\"", locations[Int(place)])
        }
        guard entry.stage.isOutcome || entry.stage == .post else { return }
        if posted >= 0 { append(",\"ns since post\":", since: posted, entry) }
        let begun = index.waitBegin(event.index)
        if begun >= 0 { append(",\"ns waited\":", since: begun, entry) }
    }

    private func isOfProcess(_ stage: DeliveryStage) -> Bool {
        switch stage {
        case .processStart, .processEnd, .fork, .lost, .end: true
        default: false
        }
    }

    // MARK: Parts

    private mutating func separate() {
        if count > 0 { bytes.append(44) }
        bytes.append(10)
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
        if value < 0 { bytes.append(45) }
        append(UInt64(value.magnitude))
    }

    private mutating func append(_ key: StaticString, since begin: Int32, _ entry: Recording.Entry) {
        append(key)
        append(entry.time - index.entry(begin).time)
    }

    private mutating func append(_ number: UInt64) {
        var rest = number
        let begin = bytes.count
        repeat {
            bytes.append(48 + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        bytes[begin...].reverse()
    }

    private mutating func append(microseconds nanoseconds: UInt64) {
        append(nanoseconds / 1000)
        let rest = Int(nanoseconds % 1000)
        bytes.append(46)
        for digit in [rest / 100, rest / 10 % 10, rest % 10] { bytes.append(48 + UInt8(digit)) }
    }

    /// The text as a JSON string, without the opening quotation mark.
    private static func escaped(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 34, 92: bytes += [92, byte]
            case 0..<32, 127:
                bytes += "\\u00".utf8
                for digit in [byte >> 4, byte & 15] { bytes.append(digit < 10 ? 48 + digit : 87 + digit) }
            default: bytes.append(byte)
            }
        }
        bytes.append(34)
        return bytes
    }
}
