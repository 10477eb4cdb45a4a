internal import Foundation

/// Encodes a userInfo in the form of `PropertyListTag`, within the limits of `Wire`.
///
/// A real may be infinite or not a number, and arrives with the same 64 bits. A date may be neither.
package struct PropertyListWriter {
    private var next: UnsafeMutableRawPointer
    private let end: UnsafeMutableRawPointer
    private var nodes = 0

    private init(next: UnsafeMutableRawPointer, end: UnsafeMutableRawPointer) { (self.next, self.end) = (next, end) }

    /// Appends a userInfo; nil appends nothing.
    ///
    /// - Cost: about 0.5 µs for a dictionary of 7 keys.
    /// - Throws: `.userInfoNotUsable`; `bytes` is unchanged.
    package static func encode(
        _ userInfo: [String: PropertyListValue]?, into bytes: inout [UInt8]
    ) throws(DistributedError) {
        guard let userInfo else { return }
        // One pass into a space of the largest size: measuring first would cost as much as writing.
        try bytes.append(addingCapacity: Wire.userInfoLimit) { output throws(DistributedError) in
            try output.withUnsafeMutableBufferPointer { buffer, count throws(DistributedError) in
                guard let start = UnsafeMutableRawPointer(buffer.baseAddress) else { return }
                var writer = PropertyListWriter(next: start, end: start + Wire.userInfoLimit)
                try writer.write(dictionary: userInfo, depth: 1)
                count = writer.next - start
            }
        }
    }

    private mutating func write(_ value: PropertyListValue, depth: Int) throws(DistributedError) {
        switch value {
        case .string(let string):
            try write(tag: PropertyListTag.string, room: 1)
            try write(string)
        case .integer(let integer):
            try write(tag: PropertyListTag.integer, room: 9)
            write(UInt64(bitPattern: integer))
        case .real(let real):
            try write(tag: PropertyListTag.real, room: 9)
            write(real.bitPattern)
        case .boolean(let boolean):
            try write(tag: boolean ? PropertyListTag.yes : PropertyListTag.no, room: 1)
        case .date(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            guard Wire.dates.contains(seconds) else {
                throw .userInfoNotUsable(problem: "is a date outside the years 1 to 9999")
            }
            try write(tag: PropertyListTag.date, room: 9)
            write(seconds.bitPattern)
        case .data(let data):
            try write(tag: PropertyListTag.data, room: 3 + data.count)
            write(UInt16(data.count))
            data.copyBytes(to: UnsafeMutableRawBufferPointer(start: next, count: data.count))
            next += data.count
        case .array(let array):
            try write(tag: PropertyListTag.array, room: 1)
            try write(array: array, depth: depth + 1)
        case .dictionary(let dictionary):
            try write(tag: PropertyListTag.dictionary, room: 1)
            try write(dictionary: dictionary, depth: depth + 1)
        }
    }

    private mutating func write(array: [PropertyListValue], depth: Int) throws(DistributedError) {
        try begin(container: array.count, depth: depth)
        for (index, value) in array.enumerated() {
            do throws(DistributedError) { try write(value, depth: depth) } catch {
                throw error.inside(index: index)
            }
        }
    }

    private mutating func write(dictionary: [String: PropertyListValue], depth: Int) throws(DistributedError) {
        try begin(container: dictionary.count, depth: depth)
        for (key, value) in dictionary {
            do throws(DistributedError) {
                try write(key)
                try write(value, depth: depth)
            } catch {
                throw error.inside(key: key)
            }
        }
    }

    private mutating func begin(container count: Int, depth: Int) throws(DistributedError) {
        try PropertyListValue.checkDepth(depth)
        // A value is counted with its container, as in the reader; the userInfo itself is counted too.
        nodes += count
        guard nodes < Wire.valueLimit else {
            throw .userInfoNotUsable(problem: "is where the userInfo exceeds \(Wire.valueLimit) values")
        }
        try require(2)
        write(UInt16(count))
    }

    private mutating func write(_ string: String) throws(DistributedError) {
        var string = string
        try require(2 + string.utf8.count)
        string.withUTF8 { text in
            write(UInt16(text.count))
            if let start = text.baseAddress { next.copyMemory(from: start, byteCount: text.count) }
            next += text.count
        }
    }

    /// Writes a tag.
    ///
    /// - Parameter room: the bytes that the tag and the rest of the value take.
    private mutating func write(tag: UInt8, room: Int) throws(DistributedError) {
        try require(room)
        write(tag)
    }

    private func require(_ room: Int) throws(DistributedError) {
        guard end - next >= room else {
            throw .userInfoNotUsable(
                problem: "is where the userInfo exceeds \(Wire.userInfoLimit >> 10) KiB. Write large data to a file, "
                    + "and post its path")
        }
    }

    private mutating func write<Integer: FixedWidthInteger & BitwiseCopyable>(_ integer: Integer) {
        next.storeBytes(of: integer.littleEndian, as: Integer.self)
        next += MemoryLayout<Integer>.size
    }
}

/// The first byte of a value on the wire.
///
/// The tag is followed by the value. All integers are little-endian:
///
///     string, data       u16 length, bytes
///     integer            i64
///     real, date         the 64 bits of the number; a date is in seconds since 2001
///     no, yes            nothing
///     array              u16 count, values
///     dictionary         u16 count, then for each entry: u16 length, the key's bytes, value
///
/// A userInfo is a dictionary without its tag. The form has no references, so a decoded value is never larger than a
/// multiple of the bytes. All lengths have the same width, so a value has one form, except that the order of keys is
/// that of Swift's dictionary. Sorting the keys would cost more than all else, and the bytes are never compared.
enum PropertyListTag {
    static let string: UInt8 = 1
    static let integer: UInt8 = 2
    static let real: UInt8 = 3
    static let no: UInt8 = 4
    static let yes: UInt8 = 5
    static let date: UInt8 = 6
    static let data: UInt8 = 7
    static let array: UInt8 = 8
    static let dictionary: UInt8 = 9
}
