/// Composes a line of text in memory of the caller. The caller makes sure that the memory is large enough.
///
/// It allocates nothing and calls no other code, so that a signal handler may use it.
struct LineBuffer {
    let start: UnsafeMutablePointer<UInt8>
    private(set) var count = 0

    /// The text so far.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

    init(_ memory: UnsafeMutablePointer<UInt8>) {
        start = memory
    }

    /// The largest number of bytes that a string takes when it is escaped.
    @inline(__always)
    static func maximumLength(_ string: String) -> Int { string.utf8.count &* 6 }

    mutating func append(_ text: StaticString) {
        UnsafeMutableRawPointer(start + count).copyMemory(from: text.utf8Start, byteCount: text.utf8CodeUnitCount)
        count &+= text.utf8CodeUnitCount
    }

    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let first = bytes.baseAddress else { return }
        UnsafeMutableRawPointer(start + count).copyMemory(from: first, byteCount: bytes.count)
        count &+= bytes.count
    }

    mutating func append(_ byte: UInt8) {
        start[count] = byte
        count &+= 1
    }

    /// Appends a number in decimal: at most 20 bytes.
    mutating func append(_ number: UInt64) {
        if number < 10 { return append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: number)) }
        // Written from the last digit on into temporary memory, because counting the digits first would divide twice.
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            guard let digits = digits.baseAddress else { return }
            var (rest, offset) = (number, 20)
            while rest > 0 {
                let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
                offset &-= 1
                digits.storeBytes(
                    of: UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit), toByteOffset: offset, as: UInt8.self)
                rest = quotient
            }
            UnsafeMutableRawPointer(start + count).copyMemory(from: digits + offset, byteCount: 20 &- offset)
            count &+= 20 &- offset
        }
    }

    /// Appends a number in hexadecimal: at most 16 bytes.
    mutating func appendHexadecimal(_ number: UInt64) {
        var shift = 60
        while shift > 0, number >> UInt64(shift) == 0 { shift -= 4 }
        while shift >= 0 {
            append(Self.hexadecimal(number >> UInt64(shift)))
            shift -= 4
        }
    }

    /// Appends the content of a JSON string.
    mutating func append(escaped string: String) {
        let isContiguous: Void? = string.utf8.withContiguousStorageIfAvailable { append(escaped: $0) }
        if isContiguous == nil { for byte in string.utf8 { append(escaped: byte) } }
    }

    private mutating func append(escaped bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        var offset = 0
        // Copies eight bytes at a time until one of them has to be escaped.
        while offset &+ 8 <= bytes.count {
            let word = UnsafeRawPointer(source + offset).loadUnaligned(as: UInt64.self)
            guard Self.isPlain(word) else { break }
            UnsafeMutableRawPointer(start + count).storeBytes(of: word, as: UInt64.self)
            count &+= 8
            offset &+= 8
        }
        while offset < bytes.count {
            append(escaped: source[offset])
            offset &+= 1
        }
    }

    /// True if none of eight bytes is a control character, a quotation mark, a backslash or a delete character. The
    /// result may be false although this is so, but never true although it is not.
    private static func isPlain(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        func hasZero(_ word: UInt64) -> UInt64 { (word &- ones) & ~word & highs }
        let isControl = (word &- ones &* 0x20) & ~word & highs
        let isQuote = hasZero(word ^ (ones &* 0x22))
        let isBackslash = hasZero(word ^ (ones &* 0x5C))
        let isDelete = hasZero(word ^ (ones &* 0x7F))
        return isControl | isQuote | isBackslash | isDelete == 0
    }

    private mutating func append(escaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            append(UInt8(ascii: "\\"))
            append(byte)
        case 0..<0x20, 0x7F:
            append("\\u00")
            append(Self.hexadecimal(UInt64(byte) >> 4))
            append(Self.hexadecimal(UInt64(byte)))
        default:
            append(byte)
        }
    }

    private static func hexadecimal(_ digit: UInt64) -> UInt8 {
        let digit = UInt8(truncatingIfNeeded: digit & 0xF)
        return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}
