internal import Foundation
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

    /// Reads from memory.
    ///
    /// - Parameter chunk: the maximum number of bytes to read at a time.
    package init(bytes: [UInt8], name: String = "memory", chunk: Int = .max) throws(LogError) {
        try self.init(LineSource(name: name, bytes: bytes, chunk: chunk))
    }

    package init(_ source: LineSource, progress: (Int) -> Void = { _ in }) throws(LogError) {
        var reader = RecordingReader(source.name)
        try source.forEachLine(reportsNULs: true) { line, number throws(LogError) in
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
        let numbers = (try? RecordFields(header))?.numbers
        return numbers?.recording == nil ? nil : numbers?.process
    }
}

/// Builds a recording from the lines of its file.
struct RecordingReader {
    private let name: String
    private var builder: RecordingBuilder
    /// For each process, the numbers of the records that were read.
    private var read: [ReadNumbers] = []
    /// For each process, the time of its header.
    private var begins: [UInt64] = []
    /// The index of the last process with an identity.
    private var processes: [ProcessIdentity: Int] = [:]
    private var locations: [UInt64: Int32] = [:]
    /// In the order of `DeliveryStage.allCases`.
    private let stageNames = TextTable(DeliveryStage.allCases.map(\.rawValue))
    private var firstProblem: (line: Int, text: String)?
    /// The version of the first header that has another version, and its line.
    private var otherVersion: (version: UInt64, line: Int)?
    private var isSkipping = false
    /// The last line with NUL bytes, and the last line with a part of a record.
    private var (lineOfNULs, lineOfPart) = (0, 0)
    /// The parts of records after the last record of the current process. The next number tells whether they are
    /// missing.
    private var parts = 0
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
        case .nuls(let hasText):
            lineOfNULs = number
            if hasText { notePart(number) }
        case .text(var bytes, let isWhole):
            if number == 1, bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
                bytes = UnsafeBufferPointer(rebasing: bytes[3...])
            }
            let isPart = isWhole && number == lineOfNULs
            if bytes.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) {
                if isPart { notePart(number) }
                return
            }
            do throws(RecordFields.Problem) {
                try take(try RecordFields(bytes), of: bytes, number)
            } catch {
                // The identity of a thread is no record: the record that it precedes is counted.
                if isPart, bytes.starts(with: "\"thread\":".utf8) { return }
                if isPart { return notePart(number) }
                note(isWhole ? .unreadableLine : .truncatedLine, error.description, number)
            }
        }
    }

    private mutating func note(_ kind: RecordingProblem.Kind, _ problem: String, _ line: Int) {
        if firstProblem == nil { firstProblem = (line, problem) }
        builder.note(
            kind,
            kind == .truncatedLine
                ? "the file ends within this line: it is left out" : "this line is left out: \(problem)", line: line)
    }

    /// A process that dies while it writes a record leaves a line with NUL bytes.
    private mutating func notePart(_ line: Int) {
        if line != lineOfPart { parts += 1 }
        lineOfPart = line
    }

    /// Counts the parts of records that no later record of the process follows.
    private mutating func endProcess() {
        guard parts > 0, builder.currentProcess >= 0 else { return }
        builder.noteMissing(parts)
        builder.note(
            .numbering,
            "this line is left out: the process ended while it wrote \(parts == 1 ? "a record" : "\(parts) records")",
            line: lineOfPart)
        parts = 0
    }

    private mutating func take(
        _ fields: RecordFields, of bytes: UnsafeBufferPointer<UInt8>, _ line: Int
    ) throws(RecordFields.Problem) {
        if let version = fields.numbers.recording {
            try takeHeader(version, fields, bytes, line)
        } else if isSkipping {
            return
        } else if let stage = fields.stage {
            try takeRecord(stage, fields, bytes, line)
        } else if let thread = fields.numbers.thread {
            needProcess(line)
            let position = builder.thread(
                ThreadIdentity(
                    number: Int(clamping: thread),
                    name: fields.name.map { text($0, bytes) } ?? (thread == 1 ? "main" : nil),
                    kernelID: Int32(clamping: fields.numbers.kernelID ?? 0)))
            if fields.pool { builder.noteInPool(position) }
        } else if let unrecorded = fields.unrecorded {
            needProcess(line)
            builder.noteUnrecorded(text(unrecorded, bytes))
        } else {
            note(.unreadableLine, "it is not a header, a thread line or a record", line)
        }
    }

    private mutating func takeHeader(
        _ version: UInt64, _ fields: RecordFields, _ bytes: UnsafeBufferPointer<UInt8>, _ line: Int
    ) throws(RecordFields.Problem) {
        endProcess()
        guard Recording.versions.contains(version) else {
            isSkipping = true
            if otherVersion == nil { otherVersion = (version, line) }
            builder.note(
                .otherVersion,
                "what follows has version \(version) of the schema, and this program reads versions "
                    + "\(Recording.versions.lowerBound) to \(Recording.versions.upperBound): it is left out", line: line
            )
            return
        }
        guard let id = fields.numbers.process else { throw .wrongValue(of: .process) }
        isSkipping = false
        hasHeader = true
        let identity = ProcessIdentity(id: Int32(clamping: id), name: fields.name.map { text($0, bytes) } ?? "")
        let (number, time) = (fields.numbers.n ?? 1, fields.numbers.t ?? 0)
        let wall = Int64(clamping: fields.numbers.wall ?? 0) &- Int64(clamping: time)
        // Process ids are reused, and in containers they are often the same, so another process may have the same
        // identity.
        let known = processes[identity]
        let isNew = known.map { number == 1 && begins[$0] < time } ?? false
        builder.setProcess(identity, wallOffset: wall, isNew: isNew, isWrittenAtOnce: version >= 3)
        if builder.currentProcess == begins.count {
            processes[identity] = builder.currentProcess
            begins.append(time)
            read.append(ReadNumbers())
        } else if number == 1 {
            builder.note(
                .numbering,
                "the records of process \(id) begin a second time here: repeated ones are left out", line: line)
        }
        read[builder.currentProcess].next = max(read[builder.currentProcess].next, Int(clamping: number))
    }

    /// Records without a header belong to an unknown process.
    private mutating func needProcess(_ line: Int) {
        guard builder.currentProcess < 0 else { return }
        builder.note(.noHeader, "no header precedes this line, so the process of these records is unknown", line: line)
        builder.setProcess(ProcessIdentity(id: 0, name: "unknown"), wallOffset: 0)
        begins.append(0)
        read.append(ReadNumbers())
        read[0].next = -1
    }

    private mutating func takeRecord(
        _ stageName: RecordFields.Text, _ fields: RecordFields, _ bytes: UnsafeBufferPointer<UInt8>, _ line: Int
    ) throws(RecordFields.Problem) {
        let numbers = fields.numbers
        guard let time = numbers.t else { throw .wrongValue(of: .t) }
        guard let stage = stage(stageName, bytes) else {
            note(
                .unreadableLine,
                "it has a stage that this version does not know, \"\(Excerpt.of(text(stageName, bytes), length: 40))\"",
                line)
            return
        }
        guard numbers.thread != nil || numbers.kernelID != nil || [.end, .lost, .fork].contains(stage) else {
            throw .wrongValue(of: .thread)
        }
        guard builder.count < Self.mostRecords else {
            note(.unreadableLine, "there are more than \(Self.mostRecords) records", line)
            return
        }
        needProcess(line)
        parts = 0
        if let number = numbers.n, !isNext(Int(clamping: number), line) { return }
        let thread =
            numbers.thread.map { builder.thread(numbered: Int(clamping: $0)) }
            ?? numbers.kernelID.flatMap { builder.thread(kernelID: Int32(clamping: $0)) }
        var entry = Recording.Entry(time: time, stage: stage, thread: thread ?? builder.thread(numbered: 1))
        entry.isThreadKnown = thread != nil
        if let target = numbers.target { entry.target = builder.thread(numbered: Int(clamping: target)) }
        if let post = numbers.post { entry.post = builder.post(Int(clamping: post)) }
        if let observer = numbers.observer { entry.observer = builder.observer(Int(clamping: observer)) }
        if let name = fields.name { entry.name = string(name, bytes) }
        if let message = fields.message { entry.message = string(message, bytes) }
        if let file = fields.file {
            entry.location = location(string(file, bytes), numbers.line ?? 0)
        } else if let at = fields.at {
            entry.location = location(ofCall: string(at, bytes), in: fields.function.map { text($0, bytes) })
        }
        if let sender = fields.sender {
            entry.sender = builder.sender(
                Recording.Sender(
                    identifier: UInt64(text(sender, bytes), radix: 16) ?? 0,
                    type: fields.type.map { text($0, bytes) } ?? ""))
        }
        if let related = numbers.by { entry.relatedPost = builder.post(Int(clamping: related)) }
        if let count = numbers.count { entry.count = Int32(clamping: count) }
        takeDetails(fields, bytes, &entry)
        entry.line = Int32(clamping: line)
        builder.append(entry)
    }

    /// Unknown values are ignored, as unknown keys are.
    private mutating func takeDetails(
        _ fields: RecordFields, _ bytes: UnsafeBufferPointer<UInt8>, _ entry: inout Recording.Entry
    ) {
        entry.overtakes = fields.overtakes
        if let style = fields.style { entry.style = Recording.Style(rawValue: text(style, bytes)) }
        if let policy = fields.policy { entry.policy = Recording.Policy(rawValue: text(policy, bytes)) }
        if let reason = fields.reason {
            entry.reason = Recording.Reason(name: text(reason, bytes), signal: fields.numbers.signal ?? 0)
        }
        if fields.foundation {
            entry.foundation = builder.foundationDetails(
                Recording.FoundationDetails(
                    center: fields.center.map { text($0, bytes) }, queue: fields.queue.map { text($0, bytes) },
                    isCalledByFoundation: fields.at.map { CallerName.isFoundation(text($0, bytes)) } ?? false))
        }
    }

    /// False if the record was read before.
    private mutating func isNext(_ number: Int, _ line: Int) -> Bool {
        let process = builder.currentProcess
        switch read[process].take(number) {
        case .next: return true
        case .after(let missing):
            builder.noteMissing(missing)
            builder.note(
                .numbering,
                "\(missing == 1 ? "a record is" : "\(missing) records are") missing before this line, number \(number)",
                line: line)
            return true
        case .late:
            builder.noteMissing(-1)
            builder.note(
                .numbering, "this line is out of order: its number, \(number), comes after later ones", line: line)
            return true
        case .repeated:
            builder.note(.numbering, "this line is left out: its number, \(number), was there before", line: line)
            return false
        }
    }

    mutating func finish() throws(LogError) -> Recording {
        endProcess()
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
                throw LogError(log: name, line: nil, problem: LogError.noRecords)
            }
            throw LogError(
                log: name, line: line,
                problem: "this is not a recording: \(text). Expected what `notify-demo record` or `run -o` writes.")
        }
        return builder.finish()
    }

    // MARK: Texts

    private func raw(_ text: RecordFields.Text, _ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: bytes[text.start..<text.end])
    }

    private func text(_ text: RecordFields.Text, _ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let raw = raw(text, bytes)
        guard text.hasEscapes else { return String(decoding: raw, as: UTF8.self) }
        let quoted = Data([UInt8(ascii: "\"")] + Array(raw) + [UInt8(ascii: "\"")])
        let decoded = try? JSONSerialization.jsonObject(with: quoted, options: .fragmentsAllowed) as? String
        return decoded ?? String(decoding: raw, as: UTF8.self)
    }

    private mutating func string(_ text: RecordFields.Text, _ bytes: UnsafeBufferPointer<UInt8>) -> Int32 {
        text.hasEscapes ? builder.string(self.text(text, bytes)) : builder.string(raw(text, bytes))
    }

    private mutating func location(_ file: Int32, _ line: UInt64) -> Int32 {
        let key = UInt64(UInt32(bitPattern: file)) << 32 | UInt64(UInt32(clamping: line))
        if let location = locations[key] { return location }
        let location = builder.location(SourceLocation(builder.string(at: file), Int(clamping: line)))
        locations[key] = location
        return location
    }

    /// - Parameter address: an index in the recording's strings.
    private mutating func location(ofCall address: Int32, in function: String?) -> Int32 {
        // No file has this line.
        let key = UInt64(UInt32(bitPattern: address)) << 32 | UInt64(UInt32.max)
        if let location = locations[key] { return location }
        let caller = CallerName.text(function: function, address: builder.string(at: address))
        let location = builder.location(SourceLocation(caller, 0))
        locations[key] = location
        return location
    }

    private func stage(_ text: RecordFields.Text, _ bytes: UnsafeBufferPointer<UInt8>) -> DeliveryStage? {
        stageNames.knownPosition(of: raw(text, bytes)).map { DeliveryStage.allCases[$0] }
    }
}
