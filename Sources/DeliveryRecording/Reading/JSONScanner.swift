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

    /// The range of the next string, without its quotes and not decoded; nil if there is none.
    mutating func string() -> Range<Int>? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let start = position
        while position < bytes.count, bytes[position] >= 0x20 {
            let byte = bytes[position]
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return start..<position - 1 }
        }
        position = min(position, bytes.count)
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
}
