internal import Foundation

/// The values of the known keys of a line.
///
/// Refers to the bytes of the line, and is valid as long as they are.
struct RecordFields {
    /// Why a line cannot be read.
    enum Problem: Error, Hashable, CustomStringConvertible {
        case noObject
        case brokenJSON(at: Int)
        case wrongValue(of: Key)
        case outOfRange(Key)

        var description: String {
            switch self {
            case .noObject: "it is not a JSON object"
            case .brokenJSON(let position): "its JSON breaks off at byte \(position + 1)"
            case .wrongValue(let key): "the value of \"\(key)\" has the wrong type"
            case .outOfRange(let key): "the value of \"\(key)\" is out of range"
            }
        }
    }

    /// The most frequent ones first.
    enum Key: Int, CaseIterable {
        case n, t, thread, stage, name, post, observer, target, file, line, count, sender, type
        case kernelID, by, message, overtakes, style, policy, reason, signal, origin
        case foundation, center, queue, at, function, pool, recording, process, wall, unrecorded

        enum Kind {
            case text, flag
            case number(ClosedRange<UInt64>)
        }

        /// Sums and differences of the numbers of a recording do not overflow.
        var kind: Kind {
            switch self {
            // Threads, posts and observers are numbered from 1.
            case .thread, .target, .post, .observer, .by, .n: .number(1...(1 << 53))
            case .process, .kernelID, .line, .count: .number(0...UInt64(Int32.max))
            case .signal: .number(0...UInt64(UInt8.max))
            case .t, .wall: .number(0...UInt64(Int64.max))
            case .recording: .number(0...UInt64.max)
            case .overtakes, .foundation, .pool: .flag
            default: .text
            }
        }
    }

    private static let keys = ShortTexts(Key.allCases.map { "\($0)" })

    /// For each key: a number, 0 or 1 of a flag, or the range of a text.
    private var values = Array(repeating: (UInt64(0), UInt64(0)), count: Key.allCases.count)
    /// A bit for each key that has a value.
    private var known: UInt32 = 0
    private let bytes: UnsafeBufferPointer<UInt8>

    /// - Parameter line: without its newline.
    init(_ line: UnsafeBufferPointer<UInt8>) throws(Problem) {
        bytes = line
        var scanner = JSONScanner(line)
        guard scanner.take("{") else { throw .noObject }
        if !scanner.take("}") {
            repeat {
                guard let key = scanner.string(), scanner.take(":") else { throw .brokenJSON(at: scanner.position) }
                try take(key, from: &scanner)
            } while scanner.take(",")
            guard scanner.take("}") else { throw .brokenJSON(at: scanner.position) }
        }
        guard scanner.isAtEnd else { throw .brokenJSON(at: scanner.position) }
    }

    private mutating func take(_ name: Range<Int>, from scanner: inout JSONScanner) throws(Problem) {
        guard let key = Self.keys.position(of: UnsafeBufferPointer(rebasing: bytes[name])).flatMap(Key.init) else {
            guard scanner.skipValue() else { throw .brokenJSON(at: scanner.position) }
            return
        }
        let value: (UInt64, UInt64)?
        switch key.kind {
        case .text: value = scanner.string().map { (UInt64($0.lowerBound), UInt64($0.upperBound)) }
        case .flag: value = scanner.bool().map { ($0 ? 1 : 0, 0) }
        case .number(let range):
            value = scanner.number().map { ($0, 0) }
            if let value, !range.contains(value.0) { throw .outOfRange(key) }
        }
        guard let value else { throw scanner.isAtEnd ? .brokenJSON(at: scanner.position) : .wrongValue(of: key) }
        values[key.rawValue] = value
        known |= 1 << key.rawValue
    }

    func has(_ key: Key) -> Bool { known & 1 << key.rawValue != 0 }

    func number(_ key: Key) -> UInt64? { has(key) ? values[key.rawValue].0 : nil }

    func flag(_ key: Key) -> Bool { values[key.rawValue].0 != 0 }

    /// The bytes of a string as they are in the line, without its quotes.
    func raw(_ key: Key) -> UnsafeBufferPointer<UInt8>? {
        let (start, end) = values[key.rawValue]
        return has(key) ? UnsafeBufferPointer(rebasing: bytes[Int(start)..<Int(end)]) : nil
    }

    func text(_ key: Key) -> String? {
        guard let raw = raw(key) else { return nil }
        guard raw.contains(UInt8(ascii: "\\")) else { return String(decoding: raw, as: UTF8.self) }
        let quoted = Data([UInt8(ascii: "\"")] + Array(raw) + [UInt8(ascii: "\"")])
        let decoded = try? JSONSerialization.jsonObject(with: quoted, options: .fragmentsAllowed) as? String
        return decoded ?? String(decoding: raw, as: UTF8.self)
    }
}

/// Texts of at most 16 bytes that are found by their bytes.
struct ShortTexts {
    private let texts: [UInt128]

    init(_ texts: [String]) { self.texts = texts.map { Self.packed(Array($0.utf8)[...]) } }

    func position(of text: UnsafeBufferPointer<UInt8>) -> Int? {
        text.count > 16 ? nil : texts.firstIndex(of: Self.packed(text))
    }

    private static func packed(_ text: some Sequence<UInt8>) -> UInt128 {
        text.reduce(into: 0) { $0 = $0 << 8 | UInt128($1) }
    }
}
