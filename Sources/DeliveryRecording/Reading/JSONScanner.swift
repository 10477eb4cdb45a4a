/// Scans the JSON of a line from left to right without copying it. Each function returns nil, or false, if what it
/// scans is not the next.
struct JSONScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The offset of the next byte.
    private(set) var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { position >= bytes.count }

    private mutating func skip(while isSkipped: (UInt8) -> Bool) {
        while position < bytes.count, isSkipped(bytes[position]) { position += 1 }
    }

    private mutating func skipBlanks() {
        skip { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") }
    }

    /// Consumes a byte and the blanks around it.
    mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        skipBlanks()
        return true
    }

    /// The range of a string, without its quotes and not decoded.
    mutating func string() -> Range<Int>? {
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { return nil }
        position += 1
        let start = position
        while position < bytes.count, bytes[position] >= 0x20 {
            let byte = bytes[position]
            position += byte == UInt8(ascii: "\\") ? 2 : 1
            if byte == UInt8(ascii: "\"") { return start..<position - 1 }
        }
        position = min(position, bytes.count)
        return nil
    }

    mutating func bool() -> Bool? {
        let word = word()
        return word.elementsEqual("true".utf8) ? true : word.elementsEqual("false".utf8) ? false : nil
    }

    /// A non-negative integer of at most 64 bits.
    mutating func number() -> UInt64? {
        let word = word()
        var number: UInt64 = 0
        for byte in word {
            let digit = byte &- UInt8(ascii: "0")
            let (product, isTooLarge) = number.multipliedReportingOverflow(by: 10)
            let (sum, hasCarry) = product.addingReportingOverflow(UInt64(digit))
            guard digit < 10, !isTooLarge, !hasCarry else { return nil }
            number = sum
        }
        return word.isEmpty ? nil : number
    }

    /// A number of any form, `true`, `false` or `null`; empty if there is none.
    private mutating func word() -> Slice<UnsafeBufferPointer<UInt8>> {
        let start = position
        skip {
            switch $0 {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"),
                UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."):
                true
            default: false
            }
        }
        return bytes[start..<position]
    }

    /// Skips a value, except an object or an array.
    mutating func skipValue() -> Bool { string() != nil || !word().isEmpty }
}
