internal import Foundation

/// Checks and decodes a userInfo in the form of `PropertyListTag`. The bytes come from another process, so nothing in
/// them is trusted.
///
/// It needs memory of a small multiple of the bytes at most, and the stack of `Wire.depthLimit` calls.
package struct PropertyListReader {
    /// A defect of the bytes, and its offset.
    package struct Problem: Error, Hashable, CustomStringConvertible {
        package let offset: Int
        package let problem: String

        package var description: String { "byte \(offset) of the userInfo: \(problem)" }
    }

    private var reader: WireReader
    /// If false, the bytes are only checked, and no memory is taken.
    private let isDecoding: Bool
    /// Values passed so far, and values that containers claim to have. Claims count before memory is taken for them.
    private var nodes = 1

    private init(_ bytes: UnsafeRawBufferPointer, isDecoding: Bool) {
        (reader, self.isDecoding) = (WireReader(bytes), isDecoding)
    }

    /// Checks that all of the bytes are a userInfo.
    /// - Returns: the number of its values, including itself.
    @discardableResult
    package static func check(_ bytes: UnsafeRawBufferPointer) throws(Problem) -> Int {
        var reader = PropertyListReader(bytes, isDecoding: false)
        _ = try reader.userInfo()
        return reader.nodes
    }

    /// Checks and decodes a userInfo. Of a key that comes twice, the last value counts.
    package static func decode(_ bytes: UnsafeRawBufferPointer) throws(Problem) -> [String: PropertyListValue] {
        var reader = PropertyListReader(bytes, isDecoding: true)
        return try reader.userInfo()
    }

    private func problem(_ text: String) -> Problem { Problem(offset: reader.offset, problem: text) }

    private mutating func userInfo() throws(Problem) -> [String: PropertyListValue] {
        guard reader.remaining <= Wire.userInfoLimit else {
            throw problem("\(reader.remaining) bytes exceed the limit of a userInfo")
        }
        let userInfo = try dictionary(depth: 1)
        guard reader.remaining == 0 else { throw problem("there are bytes after the end") }
        return userInfo
    }

    private mutating func value(depth: Int) throws(Problem) -> PropertyListValue {
        let tag = try take(UInt8.self)
        switch tag {
        case PropertyListTag.string: return .string(try string())
        case PropertyListTag.integer: return .integer(try take(Int64.self))
        case PropertyListTag.real: return .real(Double(bitPattern: try take(UInt64.self)))
        case PropertyListTag.no: return .boolean(false)
        case PropertyListTag.yes: return .boolean(true)
        case PropertyListTag.date:
            let seconds = Double(bitPattern: try take(UInt64.self))
            guard Wire.dates.contains(seconds) else { throw problem("a date is outside the years 1 to 9999") }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case PropertyListTag.data:
            let data = try part()
            return isDecoding ? .data(Data(data)) : .boolean(false)
        case PropertyListTag.array:
            var array: [PropertyListValue] = []
            for _ in 0..<(try count(depth: depth + 1, bytes: 1)) {
                let element = try value(depth: depth + 1)
                if isDecoding { array.append(element) }
            }
            return .array(array)
        case PropertyListTag.dictionary: return .dictionary(try dictionary(depth: depth + 1))
        default: throw Problem(offset: reader.offset - 1, problem: "no value begins with \(tag)")
        }
    }

    private mutating func dictionary(depth: Int) throws(Problem) -> [String: PropertyListValue] {
        let count = try count(depth: depth, bytes: 3)
        var dictionary: [String: PropertyListValue] = [:]
        if isDecoding { dictionary.reserveCapacity(count) }
        for _ in 0..<count {
            let key = try string()
            let value = try value(depth: depth)
            if isDecoding { dictionary[key] = value }
        }
        return dictionary
    }

    /// The number of elements of an array or a dictionary.
    /// - Parameter bytes: that an element has at least.
    private mutating func count(depth: Int, bytes size: Int) throws(Problem) -> Int {
        guard depth <= Wire.depthLimit else {
            throw problem("it is nested more than \(Wire.depthLimit) arrays and dictionaries deep")
        }
        let count = Int(try take(UInt16.self))
        guard count * size <= reader.remaining else { throw problem("there are fewer than \(count) elements") }
        nodes += count
        guard nodes <= Wire.valueLimit else { throw problem("there are more than \(Wire.valueLimit) values") }
        return count
    }

    private mutating func string() throws(Problem) -> String {
        let text = try part()
        guard let span = try? UTF8Span(validating: text.assumingMemoryBound(to: UInt8.self).span) else {
            throw problem("the string that ends here is not UTF-8")
        }
        return isDecoding ? String(copying: span) : ""
    }

    /// The bytes of a string or of data.
    private mutating func part() throws(Problem) -> UnsafeRawBufferPointer {
        let count = Int(try take(UInt16.self))
        guard let part = try? reader.take(count) else { throw problem("there are fewer than \(count) bytes") }
        return part
    }

    private mutating func take<Integer: FixedWidthInteger>(_ type: Integer.Type) throws(Problem) -> Integer {
        guard let integer = try? reader.integer(type) else { throw problem("the bytes end too early") }
        return integer
    }
}
