internal import Foundation

/// Decodes a userInfo in the form of `PropertyListTag`. The bytes come from another process, so nothing in them is
/// trusted.
///
/// It needs memory of a small multiple of the bytes at most, and the stack of `PropertyListLimits.depth` calls.
package struct PropertyListReader {
    /// A defect of the bytes, and its offset.
    package struct Problem: Error, Hashable, CustomStringConvertible {
        package let offset: Int
        package let problem: String

        package var description: String { "byte \(offset) of the userInfo: \(problem)" }
    }

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    /// Values read so far, and values that containers claim to have. Claims count before memory is taken for them.
    private var nodes = 1

    private init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// Decodes a userInfo from all of the bytes.
    ///
    /// - Cost: about 1 µs for a dictionary of 7 keys.
    /// - Returns: the userInfo, and the number of its values, including itself.
    package static func decode(
        _ bytes: UnsafeRawBufferPointer
    ) throws(Problem) -> (value: [String: PropertyListValue], nodes: Int) {
        var reader = PropertyListReader(bytes)
        guard bytes.count <= PropertyListLimits.bytes else {
            throw reader.problem("\(bytes.count) bytes exceed the limit of a userInfo")
        }
        let value = try reader.readDictionary(depth: 1)
        guard reader.offset == bytes.count else { throw reader.problem("there are bytes after the end") }
        return (value, reader.nodes)
    }

    private func problem(_ text: String) -> Problem { Problem(offset: offset, problem: text) }

    private mutating func readValue(depth: Int) throws(Problem) -> PropertyListValue {
        let tag = try readInteger(UInt8.self)
        switch tag {
        case PropertyListTag.string:
            return .string(try readString())
        case PropertyListTag.integer:
            return .integer(Int64(bitPattern: try readInteger(UInt64.self)))
        case PropertyListTag.real:
            return .real(Double(bitPattern: try readInteger(UInt64.self)))
        case PropertyListTag.no:
            return .boolean(false)
        case PropertyListTag.yes:
            return .boolean(true)
        case PropertyListTag.date:
            let seconds = Double(bitPattern: try readInteger(UInt64.self))
            guard PropertyListLimits.dates.contains(seconds) else {
                throw problem("a date is outside the years 1 to 9999")
            }
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case PropertyListTag.data:
            return .data(Data(try readBytes()))
        case PropertyListTag.array:
            return .array(try readArray(depth: depth + 1))
        case PropertyListTag.dictionary:
            return .dictionary(try readDictionary(depth: depth + 1))
        default:
            offset -= 1
            throw problem("no value begins with \(tag)")
        }
    }

    private mutating func readArray(depth: Int) throws(Problem) -> [PropertyListValue] {
        let count = try readCount(depth: depth, smallest: 1)
        var array: [PropertyListValue] = []
        array.reserveCapacity(count)
        for _ in 0..<count { array.append(try readValue(depth: depth)) }
        return array
    }

    private mutating func readDictionary(depth: Int) throws(Problem) -> [String: PropertyListValue] {
        let count = try readCount(depth: depth, smallest: 3)
        var dictionary = [String: PropertyListValue](minimumCapacity: count)
        for _ in 0..<count {
            let key = try readString()
            guard dictionary.updateValue(try readValue(depth: depth), forKey: key) == nil else {
                throw problem("a dictionary contains a key twice")
            }
        }
        return dictionary
    }

    /// - Parameter smallest: the fewest bytes that an element takes.
    private mutating func readCount(depth: Int, smallest: Int) throws(Problem) -> Int {
        guard depth <= PropertyListLimits.depth else {
            throw problem("it is nested more than \(PropertyListLimits.depth) arrays and dictionaries deep")
        }
        let count = Int(try readInteger(UInt16.self))
        guard count * smallest <= bytes.count - offset else { throw problem("there are fewer than \(count) elements") }
        nodes += count
        guard nodes <= PropertyListLimits.nodes else {
            throw problem("there are more than \(PropertyListLimits.nodes) values")
        }
        return count
    }

    private mutating func readString() throws(Problem) -> String {
        guard let string = String(utf8: try readBytes()) else {
            throw problem("the string that ends here is not UTF-8")
        }
        return string
    }

    private mutating func readBytes() throws(Problem) -> UnsafeRawBufferPointer {
        let count = Int(try readInteger(UInt16.self))
        guard count <= bytes.count - offset else { throw problem("there are fewer than \(count) bytes") }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)])
    }

    private mutating func readInteger<Integer: FixedWidthInteger & BitwiseCopyable>(
        _ type: Integer.Type
    ) throws(Problem) -> Integer {
        guard bytes.count - offset >= MemoryLayout<Integer>.size else { throw problem("the bytes end too early") }
        defer { offset += MemoryLayout<Integer>.size }
        return Integer(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Integer.self))
    }
}
