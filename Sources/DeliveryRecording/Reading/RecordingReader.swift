internal import TerminalText
internal import ThreadedNotifications

extension Recording {
    /// Reads the file of a recording, or standard input for `-`. Keeps what can be read, and reports the rest in
    /// `problems`.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - progress: called from time to time with the number of records read.
    /// - Throws: `LogError` if the file cannot be opened or read, or is not a recording.
    public init(path: String, progress: (Int) -> Void = { _ in }) throws(LogError) {
        try self.init(LineSource(path: path), progress: progress)
    }

    package init(bytes: [UInt8], name: String = "memory") throws(LogError) {
        try self.init(LineSource(name: name, bytes: bytes))
    }

    package init(_ source: LineSource, progress: (Int) -> Void = { _ in }) throws(LogError) {
        var reader = RecordingReader(source.name)
        try source.forEachLine { line, number throws(LogError) in
            if number.isMultiple(of: 10_000) { progress(reader.count) }
            try reader.read(line, number)
        }
        self = try reader.finish()
    }
}

extension Recording {
    /// The process id in a header; nil if the line is not a header.
    ///
    /// - Parameter header: the line, without its newline.
    package static func process(ofHeader header: UnsafeBufferPointer<UInt8>) -> UInt64? {
        let fields = try? RecordFields(header)
        return fields?.number(.recording) == nil ? nil : fields?.number(.process)
    }
}

/// Builds a recording from the lines of its file.
struct RecordingReader {
    private let name: String
    private var builder: RecordingBuilder
    private static let stages = ShortTexts(DeliveryStage.allCases.map(\.rawValue))
    private var firstProblem: (line: Int, text: String)?
    /// The version of the first header that has another version, and its line.
    private var otherVersion: (version: UInt64, line: Int)?
    private var isSkipping = false
    /// By address.
    private var callers: [String: String] = [:]
    private var hasHeader = false

    /// The entries of more records would not fit into the memory of a usual computer.
    static let mostRecords = 50_000_000

    init(_ name: String) {
        self.name = name
        builder = RecordingBuilder(source: name)
    }

    var count: Int { builder.count }

    mutating func read(_ line: LineSource.Line, _ number: Int) throws(LogError) {
        switch line {
        case .tooLong:
            note(.unreadableLine, "it is longer than \(LineSource.longestLine) bytes", number)
        case .text(var bytes, let isWhole):
            if number == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
                bytes = UnsafeBufferPointer(rebasing: bytes[3...])
            }
            if bytes.first == 0 {
                // Room for more lines. A line that the process was writing when it died begins with a NUL byte, too.
                bytes = UnsafeBufferPointer(rebasing: bytes.drop { $0 == 0 })
                guard bytes.first == UInt8(ascii: "{") else { return }
            }
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return }
            do throws(RecordFields.Problem) {
                try take(try RecordFields(bytes), number)
            } catch {
                note(isWhole ? .unreadableLine : .truncatedLine, error.description, number)
            }
        }
    }

    private mutating func note(_ kind: RecordingBuilder.Problem, _ problem: String, _ line: Int) {
        if firstProblem == nil { firstProblem = (line, problem) }
        builder.note(
            kind,
            kind == .truncatedLine
                ? "the file ends within this line: it is left out" : "this line is left out: \(problem)", line: line)
    }

    private mutating func take(_ fields: RecordFields, _ line: Int) throws(RecordFields.Problem) {
        if let version = fields.number(.recording) {
            try takeHeader(version, fields, line)
        } else if isSkipping {
            return
        } else if fields.has(.stage) {
            try takeRecord(fields, line)
        } else if let number = fields.number(.thread) {
            needProcess(line)
            let identity = ThreadIdentity(
                number: Int(clamping: number), name: fields.text(.name) ?? (number == 1 ? "main" : nil),
                kernelID: Int32(clamping: fields.number(.kernelID) ?? 0))
            builder.thread(identity, isInPool: fields.flag(.pool))
        } else if let unrecorded = fields.text(.unrecorded) {
            needProcess(line)
            builder.noteUnrecorded(unrecorded)
        } else {
            note(.unreadableLine, "it is not a header, a thread line or a record", line)
        }
    }

    private mutating func takeHeader(
        _ version: UInt64, _ fields: RecordFields, _ line: Int
    ) throws(RecordFields.Problem) {
        guard Recording.versions.contains(version) else {
            isSkipping = true
            if otherVersion == nil { otherVersion = (version, line) }
            builder.note(
                .unreadableLine,
                "what follows has version \(version) of the schema, and this program reads versions "
                    + "\(Recording.versions.lowerBound) to \(Recording.versions.upperBound): it is left out", line: line
            )
            return
        }
        guard let id = fields.number(.process) else { throw .wrongValue(of: .process) }
        isSkipping = false
        hasHeader = true
        let (number, time) = (fields.number(.n) ?? 1, fields.number(.t) ?? 0)
        let isNew = builder.setProcess(
            ProcessIdentity(id: Int32(clamping: id), name: fields.text(.name) ?? ""),
            wallOffset: Int64(clamping: fields.number(.wall) ?? 0) &- Int64(clamping: time),
            begin: time, isFirst: number == 1, isWrittenAtOnce: version >= 3)
        if !isNew, number == 1 {
            builder.note(
                .numbering,
                "the records of process \(id) begin a second time here: repeated ones are left out", line: line)
        }
        builder.progress.numbers.next = max(builder.progress.numbers.next, Int(clamping: number))
    }

    /// Records without a header belong to an unknown process.
    private mutating func needProcess(_ line: Int) {
        guard builder.process < 0 else { return }
        builder.note(.unreadableLine, "no header precedes this line: the process of the records is unknown", line: line)
        builder.setProcess(ProcessIdentity(id: 0, name: "unknown"), wallOffset: 0)
        builder.progress.numbers.next = -1
    }

    private mutating func takeRecord(_ fields: RecordFields, _ line: Int) throws(RecordFields.Problem) {
        guard let time = fields.number(.t) else { throw .wrongValue(of: .t) }
        guard let stage = fields.raw(.stage).flatMap(Self.stages.position).map({ DeliveryStage.allCases[$0] }) else {
            let name = Excerpt.of(fields.text(.stage) ?? "", length: 40)
            return note(.unreadableLine, "it has a stage that this version does not know, \"\(name)\"", line)
        }
        guard fields.has(.thread) || fields.has(.kernelID) || [.end, .lost, .fork].contains(stage) else {
            throw .wrongValue(of: .thread)
        }
        guard builder.count < Self.mostRecords else {
            return note(.unreadableLine, "there are more than \(Self.mostRecords) records", line)
        }
        needProcess(line)
        if let number = fields.number(.n), !isNext(Int(clamping: number), line) { return }
        let thread =
            fields.number(.thread).map { builder.thread(numbered: Int(clamping: $0)) }
            ?? fields.number(.kernelID).flatMap { builder.thread(kernelID: Int32(clamping: $0)) }
        var entry = Recording.Entry(time: time, stage: stage, thread: thread ?? builder.thread(numbered: 1))
        entry.isThreadKnown = thread != nil
        if let target = fields.number(.target) { entry.target = builder.thread(numbered: Int(clamping: target)) }
        if let post = fields.number(.post) { entry.post = builder.post(Int(clamping: post)) }
        if let observer = fields.number(.observer) { entry.observer = builder.observer(Int(clamping: observer)) }
        if let related = fields.number(.by) { entry.relatedPost = builder.post(Int(clamping: related)) }
        if entry.post >= 0, let origin = fields.text(.origin) { builder.noteOrigin(origin, ofPost: entry.post) }
        if let count = fields.number(.count) { entry.count = Int32(clamping: count) }
        if let name = fields.text(.name) { entry.name = builder.string(name) }
        if let message = fields.text(.message) { entry.message = builder.string(message) }
        if let file = fields.text(.file) {
            entry.location = builder.location(SourceLocation(file, Int(fields.number(.line) ?? 0)))
        } else if let address = fields.text(.at) {
            let caller = callers[address] ?? CallerName.text(function: fields.text(.function), address: address)
            callers[address] = caller
            entry.location = builder.location(SourceLocation(caller, 0))
        }
        if let sender = fields.text(.sender) {
            entry.sender = builder.sender(
                Recording.Sender(identifier: UInt64(sender, radix: 16) ?? 0, type: fields.text(.type) ?? ""))
        }
        // Unknown values are ignored, as unknown keys are.
        entry.overtakes = fields.flag(.overtakes)
        entry.style = fields.text(.style).flatMap(Recording.Style.init)
        entry.policy = fields.text(.policy).flatMap(Recording.Policy.init)
        entry.reason = fields.text(.reason).flatMap { .init(name: $0, signal: fields.number(.signal) ?? 0) }
        if fields.flag(.foundation) {
            entry.foundation = builder.foundationDetails(
                Recording.FoundationDetails(
                    center: fields.text(.center), queue: fields.text(.queue),
                    isCalledByFoundation: fields.text(.at).map(CallerName.isFoundation) ?? false))
        }
        entry.line = Int32(clamping: line)
        builder.append(entry)
    }

    /// False if the record was read before.
    private mutating func isNext(_ number: Int, _ line: Int) -> Bool {
        let problem: String
        let place = builder.progress.numbers.take(number)
        switch place {
        case .next: return true
        case .after(let missing):
            builder.progress.noteMissing(missing)
            problem =
                "\(missing == 1 ? "a record is" : "\(missing) records are") missing before this line, number \(number)"
        case .late:
            builder.progress.noteMissing(-1)
            problem = "this line is out of order: its number, \(number), comes after later ones"
        case .repeated: problem = "this line is left out: its number, \(number), was there before"
        }
        builder.note(.numbering, problem, line: line)
        return place != .repeated
    }

    mutating func finish() throws(LogError) -> Recording {
        if let (version, line) = otherVersion, !hasHeader {
            throw LogError(
                log: name, line: line,
                problem: version < Recording.versions.lowerBound
                    ? "this was recorded by an older version of the library (schema \(version)). Record it again."
                    : "this was recorded by a newer version of the library (schema \(version), and this program reads up to "
                        + "\(Recording.versions.upperBound)). Read it with the newer version.")
        }
        // A file that only quotes records, such as a document, is not a recording.
        if !hasHeader, builder.count <= builder.recording.problemCount / 2 {
            guard let (line, text) = firstProblem else {
                throw LogError(log: name, line: nil, problem: "contains no records. Was anything recorded?")
            }
            throw LogError(
                log: name, line: line,
                problem: "this is not a recording: \(text). Expected what `notify-demo record` or `run -o` writes.")
        }
        return builder.finish()
    }
}
