/// The values of the known keys of a line.
///
/// Refers to the bytes of the line, and is valid as long as they are.
struct RecordFields {
    /// A string in the line, without its quotes.
    struct Text {
        var start: Int
        var end: Int
        var hasEscapes: Bool
    }

    /// Why a line cannot be read.
    enum Problem: Error, Hashable {
        case noObject
        case brokenJSON(at: Int)
        case wrongValue(of: Key)
        case outOfRange(Key)
    }

    enum Key: String, CaseIterable {
        case recording, process, wall, n, t, thread, kernelID, stage, name, post, observer, target, message, file, line,
            count
        case sender, type, by, overtakes, style, policy, reason, signal
        case foundation, center, queue, at, function, unrecorded, pool
    }

    private(set) var numbers = Numbers()
    private(set) var stage: Text?
    private(set) var name: Text?
    private(set) var message: Text?
    private(set) var file: Text?
    private(set) var sender: Text?
    private(set) var type: Text?
    private(set) var style: Text?
    private(set) var policy: Text?
    private(set) var reason: Text?
    private(set) var overtakes = false
    private(set) var foundation = false
    private(set) var pool = false
    private(set) var center: Text?
    private(set) var queue: Text?
    private(set) var at: Text?
    private(set) var function: Text?
    private(set) var unrecorded: Text?

    struct Numbers {
        var recording: UInt64?
        var process: UInt64?
        var wall: UInt64?
        var n: UInt64?
        var t: UInt64?
        var thread: UInt64?
        var kernelID: UInt64?
        var post: UInt64?
        var observer: UInt64?
        var target: UInt64?
        var line: UInt64?
        var count: UInt64?
        var by: UInt64?
        var signal: UInt64?
    }

    /// - Parameter line: without its newline.
    init(_ line: UnsafeBufferPointer<UInt8>) throws(Problem) {
        var scanner = JSONScanner(line)
        scanner.skipBlanks()
        guard scanner.take(UInt8(ascii: "{")) else { throw .noObject }
        scanner.skipBlanks()
        if !scanner.take(UInt8(ascii: "}")) {
            while true {
                guard let key = scanner.string() else { throw .brokenJSON(at: scanner.position) }
                scanner.skipBlanks()
                guard scanner.take(UInt8(ascii: ":")) else { throw .brokenJSON(at: scanner.position) }
                scanner.skipBlanks()
                try take(key, from: &scanner)
                scanner.skipBlanks()
                if scanner.take(UInt8(ascii: "}")) { break }
                guard scanner.take(UInt8(ascii: ",")) else { throw .brokenJSON(at: scanner.position) }
                scanner.skipBlanks()
            }
        }
        scanner.skipBlanks()
        guard scanner.isAtEnd else { throw .brokenJSON(at: scanner.position) }
    }

    private mutating func take(_ key: Text, from scanner: inout JSONScanner) throws(Problem) {
        guard let known = scanner.key(key) else {
            guard scanner.skipValue() else { throw .brokenJSON(at: scanner.position) }
            return
        }
        switch known {
        case .stage: stage = try text(known, &scanner)
        case .name: name = try text(known, &scanner)
        case .message: message = try text(known, &scanner)
        case .file: file = try text(known, &scanner)
        case .sender: sender = try text(known, &scanner)
        case .type: type = try text(known, &scanner)
        case .recording: numbers.recording = try number(known, &scanner)
        case .process: numbers.process = try number(known, &scanner)
        case .wall: numbers.wall = try number(known, &scanner)
        case .n: numbers.n = try number(known, &scanner)
        case .t: numbers.t = try number(known, &scanner)
        case .thread: numbers.thread = try number(known, &scanner)
        case .kernelID: numbers.kernelID = try number(known, &scanner)
        case .post: numbers.post = try number(known, &scanner)
        case .observer: numbers.observer = try number(known, &scanner)
        case .target: numbers.target = try number(known, &scanner)
        case .line: numbers.line = try number(known, &scanner)
        case .count: numbers.count = try number(known, &scanner)
        case .by: numbers.by = try number(known, &scanner)
        case .style: style = try text(known, &scanner)
        case .policy: policy = try text(known, &scanner)
        case .reason: reason = try text(known, &scanner)
        case .signal: numbers.signal = try number(known, &scanner)
        case .overtakes: overtakes = try bool(known, &scanner)
        case .foundation: foundation = try bool(known, &scanner)
        case .pool: pool = try bool(known, &scanner)
        case .center: center = try text(known, &scanner)
        case .queue: queue = try text(known, &scanner)
        case .at: at = try text(known, &scanner)
        case .function: function = try text(known, &scanner)
        case .unrecorded: unrecorded = try text(known, &scanner)
        }
    }

    private func text(_ key: Key, _ scanner: inout JSONScanner) throws(Problem) -> Text {
        guard let text = scanner.string() else {
            throw scanner.isAtEnd ? .brokenJSON(at: scanner.position) : .wrongValue(of: key)
        }
        return text
    }

    private func bool(_ key: Key, _ scanner: inout JSONScanner) throws(Problem) -> Bool {
        guard let value = scanner.bool() else { throw .wrongValue(of: key) }
        return value
    }

    private func number(_ key: Key, _ scanner: inout JSONScanner) throws(Problem) -> UInt64 {
        guard let number = scanner.number() else {
            throw scanner.isAtEnd ? .brokenJSON(at: scanner.position) : .wrongValue(of: key)
        }
        guard key.range.contains(number) else { throw .outOfRange(key) }
        return number
    }
}

extension RecordFields.Key {
    /// The values that a recording can have. Sums and differences of them do not overflow.
    fileprivate var range: ClosedRange<UInt64> {
        switch self {
        // Threads, posts and observers are numbered from 1.
        case .thread, .target, .post, .observer, .by, .n: 1...(1 << 53)
        case .process, .kernelID, .line, .count: 0...UInt64(Int32.max)
        case .signal: 0...UInt64(UInt8.max)
        case .t, .wall: 0...UInt64(Int64.max)
        default: 0...UInt64.max
        }
    }
}

extension RecordFields.Problem {
    var description: String {
        switch self {
        case .noObject: "it is not a JSON object"
        case .brokenJSON(let position): "its JSON breaks off at byte \(position + 1)"
        case .wrongValue(let key): "the value of \"\(key.rawValue)\" has the wrong type"
        case .outOfRange(let key): "the value of \"\(key.rawValue)\" is out of range"
        }
    }
}
