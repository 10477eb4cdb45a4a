/// Text that is put together in memory which was given, and is large enough: the caller has asked for the length before.
///
/// It allocates nothing and calls nobody, so that also a signal handler may use it.
struct LineBuffer {
    private let start: UnsafeMutablePointer<UInt8>
    private(set) var count = 0

    init(_ memory: UnsafeMutablePointer<UInt8>) {
        start = memory
    }

    /// How many bytes a string takes at most when it is escaped.
    static func longest(_ string: String) -> Int { string.utf8.count * 6 }

    mutating func append(_ text: StaticString) {
        (start + count).update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        count += text.utf8CodeUnitCount
    }

    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let first = bytes.baseAddress else { return }
        (start + count).update(from: first, count: bytes.count)
        count += bytes.count
    }

    mutating func append(_ byte: UInt8) {
        start[count] = byte
        count += 1
    }

    /// In decimal; at most 20 bytes.
    mutating func append(_ number: UInt64) {
        var digits = 1
        var bound = number
        while bound >= 10 {
            bound /= 10
            digits += 1
        }
        var rest = number
        for place in stride(from: count + digits - 1, through: count, by: -1) {
            start[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        count += digits
    }

    /// In hexadecimal; at most 16 bytes.
    mutating func appendHexadecimal(_ number: UInt64) {
        var shift = 60
        while shift > 0, number >> UInt64(shift) == 0 { shift -= 4 }
        while shift >= 0 {
            append(Self.hexadecimal(number >> UInt64(shift)))
            shift -= 4
        }
    }

    /// As the inside of a JSON string.
    mutating func append(escaped string: String) {
        let isContiguous: Void? = string.utf8.withContiguousStorageIfAvailable { append(escaped: $0) }
        if isContiguous == nil { for byte in string.utf8 { append(escaped: byte) } }
    }

    private mutating func append(escaped bytes: UnsafeBufferPointer<UInt8>) {
        for byte in bytes { append(escaped: byte) }
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
