/// Scans the JSON of a line from left to right without copying it.
struct JSONScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The offset of the next byte.
    private(set) var position = 0

    /// The maximum nesting of values that are skipped.
    private static let deepest = 64

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position >= bytes.count }

    mutating func skipBlanks() {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): position += 1
            default: return
            }
        }
    }

    /// Consumes a byte if it is the next one.
    mutating func take(_ byte: UInt8) -> Bool {
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// The next string, not decoded; nil if there is none.
    mutating func string() -> RecordFields.Text? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        var text = RecordFields.Text(start: position, end: position, hasEscapes: false)
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "\"") {
                text.end = position
                position += 1
                return text
            }
            if byte < 0x20 { return nil }
            if byte == UInt8(ascii: "\\") {
                text.hasEscapes = true
                position += 1
            }
            position += 1
        }
        position = bytes.count
        return nil
    }

    /// The next `true` or `false`; nil if there is none.
    mutating func bool() -> Bool? {
        for (word, value) in [("true", true), ("false", false)] {
            if bytes[position...].starts(with: word.utf8) {
                position += word.utf8.count
                return value
            }
        }
        return nil
    }

    /// The next number if it is a non-negative integer of at most 64 bits, otherwise nil.
    mutating func number() -> UInt64? {
        let start = position
        var number: UInt64 = 0
        while position < bytes.count {
            let digit = bytes[position] &- UInt8(ascii: "0")
            guard digit < 10 else { break }
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, hasCarry) = product.addingReportingOverflow(UInt64(digit))
            guard !isTooLarge, !hasCarry else { return nil }
            number = sum
            position += 1
        }
        guard position > start else { return nil }
        if position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"): return nil
            default: break
            }
        }
        return number
    }

    /// Skips a value of any type.
    mutating func skipValue() -> Bool {
        var depth = 0
        repeat {
            skipBlanks()
            guard position < bytes.count else { return false }
            switch bytes[position] {
            case UInt8(ascii: "\""):
                guard string() != nil else { return false }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                guard depth <= Self.deepest else { return false }
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0 else { return false }
                depth -= 1
                position += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                guard depth > 0 else { return false }
                position += 1
            default:
                guard skipWord() else { return false }
            }
        } while depth > 0
        return true
    }

    /// Skips a number of any form, `true`, `false` or `null`.
    private mutating func skipWord() -> Bool {
        let start = position
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"),
                UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                position += 1
            default:
                return position > start
            }
        }
        return position > start
    }

    /// The known key that a string names.
    func key(_ text: RecordFields.Text) -> RecordFields.Key? {
        guard !text.hasEscapes, text.start < text.end else { return nil }
        let first = bytes[text.start]
        let length = text.end - text.start
        return switch (first, length) {
        case (UInt8(ascii: "n"), 1): .n
        case (UInt8(ascii: "t"), 1): .t
        case (UInt8(ascii: "t"), 6): isSame(text, "thread") ? .thread : isSame(text, "target") ? .target : nil
        case (UInt8(ascii: "n"), 4): isSame(text, "name") ? .name : nil
        case (UInt8(ascii: "p"), 4): isSame(text, "post") ? .post : isSame(text, "pool") ? .pool : nil
        case (UInt8(ascii: "o"), 8): isSame(text, "observer") ? .observer : nil
        case (UInt8(ascii: "m"), 7): isSame(text, "message") ? .message : nil
        case (UInt8(ascii: "f"), 4): isSame(text, "file") ? .file : nil
        case (UInt8(ascii: "l"), 4): isSame(text, "line") ? .line : nil
        case (UInt8(ascii: "c"), 5): isSame(text, "count") ? .count : nil
        case (UInt8(ascii: "t"), 4): isSame(text, "type") ? .type : nil
        case (UInt8(ascii: "b"), 2): isSame(text, "by") ? .by : nil
        case (UInt8(ascii: "k"), 8): isSame(text, "kernelID") ? .kernelID : nil
        case (UInt8(ascii: "r"), 9): isSame(text, "recording") ? .recording : nil
        case (UInt8(ascii: "p"), 7): isSame(text, "process") ? .process : nil
        case (UInt8(ascii: "w"), 4): isSame(text, "wall") ? .wall : nil
        case (UInt8(ascii: "s"), 5): isSame(text, "stage") ? .stage : isSame(text, "style") ? .style : nil
        case (UInt8(ascii: "o"), 9): isSame(text, "overtakes") ? .overtakes : nil
        case (UInt8(ascii: "p"), 6): isSame(text, "policy") ? .policy : nil
        case (UInt8(ascii: "r"), 6): isSame(text, "reason") ? .reason : nil
        case (UInt8(ascii: "s"), 6): isSame(text, "sender") ? .sender : isSame(text, "signal") ? .signal : nil
        case (UInt8(ascii: "f"), 10): isSame(text, "foundation") ? .foundation : nil
        case (UInt8(ascii: "c"), 6): isSame(text, "center") ? .center : nil
        case (UInt8(ascii: "q"), 5): isSame(text, "queue") ? .queue : nil
        case (UInt8(ascii: "a"), 2): isSame(text, "at") ? .at : nil
        case (UInt8(ascii: "f"), 8): isSame(text, "function") ? .function : nil
        case (UInt8(ascii: "u"), 10): isSame(text, "unrecorded") ? .unrecorded : nil
        default: nil
        }
    }

    private func isSame(_ text: RecordFields.Text, _ word: StaticString) -> Bool {
        for index in 0..<word.utf8CodeUnitCount where bytes[text.start + index] != word.utf8Start[index] {
            return false
        }
        return true
    }
}
