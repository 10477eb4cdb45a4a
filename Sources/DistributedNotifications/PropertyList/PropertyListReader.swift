internal import Foundation

/// Checks and decodes a userInfo in the form of `PropertyListTag`. The bytes come from another process, so nothing in
/// them is trusted: `check` walks over them once without building a value, and `decode` builds one of bytes that were
/// checked.
///
/// It needs memory of a small multiple of the bytes at most, and the stack of `Wire.depthLimit` calls.
package struct PropertyListReader {
    /// A defect of the bytes, and its offset.
    package struct Problem: Error, Hashable, CustomStringConvertible {
        package let offset: Int
        package let problem: String

        package var description: String { "byte \(offset) of the userInfo: \(problem)" }
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    /// Values passed so far, and values that containers claim to have. Claims count before memory is taken for them.
    private var nodes = 1

    private init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Checks that all of the bytes are a userInfo.
    /// - Returns: the number of its values, including itself.
    @discardableResult
    package static func check(_ bytes: UnsafeRawBufferPointer) throws(Problem) -> Int {
        var reader = PropertyListReader(bytes)
        guard bytes.count <= Wire.userInfoLimit else {
            throw reader.problem("\(bytes.count) bytes exceed the limit of a userInfo")
        }
        try reader.checkElements(depth: 1, haveKeys: true)
        guard reader.offset == bytes.count else { throw reader.problem("there are bytes after the end") }
        return reader.nodes
    }

    /// Checks and decodes a userInfo.
    package static func decode(_ bytes: UnsafeRawBufferPointer) throws(Problem) -> [String: PropertyListValue] {
        try check(bytes)
        return decode(checked: bytes)
    }

    /// Decodes a userInfo that `check` has accepted. Of a key that comes twice, the last value counts.
    static func decode(checked bytes: UnsafeRawBufferPointer) -> [String: PropertyListValue] {
        var reader = PropertyListReader(bytes)
        return reader.dictionary()
    }

    // MARK: Checking

    private func problem(_ text: String) -> Problem { Problem(offset: offset, problem: text) }

    private mutating func checkValue(depth: Int) throws(Problem) {
        try require(1, "the bytes end too early")
        let tag = take(UInt8.self)
        switch tag {
        case PropertyListTag.string: try checkString()
        case PropertyListTag.integer, PropertyListTag.real:
            try require(8, "the bytes end too early")
            offset += 8
        case PropertyListTag.no, PropertyListTag.yes: break
        case PropertyListTag.date:
            try require(8, "the bytes end too early")
            guard Wire.dates.contains(Double(bitPattern: take(UInt64.self))) else {
                throw problem("a date is outside the years 1 to 9999")
            }
        case PropertyListTag.data: offset += try checkedCount()
        case PropertyListTag.array: try checkElements(depth: depth + 1, haveKeys: false)
        case PropertyListTag.dictionary: try checkElements(depth: depth + 1, haveKeys: true)
        default:
            offset -= 1
            throw problem("no value begins with \(tag)")
        }
    }

    private mutating func checkElements(depth: Int, haveKeys: Bool) throws(Problem) {
        guard depth <= Wire.depthLimit else {
            throw problem("it is nested more than \(Wire.depthLimit) arrays and dictionaries deep")
        }
        try require(2, "the bytes end too early")
        let count = Int(take(UInt16.self))
        try require(count * (haveKeys ? 3 : 1), "there are fewer than \(count) elements")
        nodes += count
        guard nodes <= Wire.valueLimit else { throw problem("there are more than \(Wire.valueLimit) values") }
        for _ in 0..<count {
            if haveKeys { try checkString() }
            try checkValue(depth: depth)
        }
    }

    private mutating func checkString() throws(Problem) {
        let count = try checkedCount()
        let text = UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
        offset += count
        guard (try? UTF8Span(validating: text.assumingMemoryBound(to: UInt8.self).span)) != nil else {
            throw problem("the string that ends here is not UTF-8")
        }
    }

    /// The length of a string or of data; so many bytes are left.
    private mutating func checkedCount() throws(Problem) -> Int {
        try require(2, "the bytes end too early")
        let count = Int(take(UInt16.self))
        try require(count, "there are fewer than \(count) bytes")
        return count
    }

    private func require(_ count: Int, _ text: @autoclosure () -> String) throws(Problem) {
        guard count <= bytes.count - offset else { throw problem(text()) }
    }

    // MARK: Decoding bytes that were checked

    private mutating func value() -> PropertyListValue {
        switch take(UInt8.self) {
        case PropertyListTag.string: .string(string())
        case PropertyListTag.integer: .integer(take(Int64.self))
        case PropertyListTag.real: .real(Double(bitPattern: take(UInt64.self)))
        case PropertyListTag.no: .boolean(false)
        case PropertyListTag.yes: .boolean(true)
        case PropertyListTag.date:
            .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: take(UInt64.self))))
        case PropertyListTag.data: .data(Data(part()))
        case PropertyListTag.array: .array((0..<take(UInt16.self)).map { _ in value() })
        default: .dictionary(dictionary())
        }
    }

    private mutating func dictionary() -> [String: PropertyListValue] {
        let count = Int(take(UInt16.self))
        var dictionary = [String: PropertyListValue](minimumCapacity: count)
        for _ in 0..<count {
            let key = string()
            dictionary[key] = value()
        }
        return dictionary
    }

    private mutating func string() -> String { String(decoding: part(), as: UTF8.self) }

    private mutating func part() -> UnsafeRawBufferPointer {
        let count = Int(take(UInt16.self))
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }

    private mutating func take<Integer: FixedWidthInteger & BitwiseCopyable>(_ type: Integer.Type) -> Integer {
        defer { offset += MemoryLayout<Integer>.size }
        return Integer(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Integer.self))
    }
}
