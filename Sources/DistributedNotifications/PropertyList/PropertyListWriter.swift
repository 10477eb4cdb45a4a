internal import Foundation

/// Encodes a userInfo in the form of `PropertyListTag`, within `PropertyListLimits`.
///
/// A real may be infinite or not a number, and arrives with the same 64 bits. A date may be neither.
package struct PropertyListWriter {
    private var next: UnsafeMutableRawPointer
    private let end: UnsafeMutableRawPointer
    private var nodes = 0

    private init(_ buffer: UnsafeMutableRawBufferPointer, _ start: UnsafeMutableRawPointer) {
        next = start
        end = start + min(buffer.count, PropertyListLimits.bytes)
    }

    /// Appends a userInfo; nil appends nothing.
    ///
    /// - Cost: about 0.5 µs for a dictionary of 7 keys.
    /// - Throws: `.userInfoNotUsable`; `bytes` is unchanged.
    package static func encode(
        _ userInfo: [String: PropertyListValue]?, into bytes: inout [UInt8]
    ) throws(DistributedError) {
        guard let userInfo else { return }
        // One pass into a space of the largest size: measuring first would cost as much as writing.
        try bytes.append(addingCapacity: PropertyListLimits.bytes) { output throws(DistributedError) in
            try output.withUnsafeMutableBufferPointer { buffer, count throws(DistributedError) in
                count = try encode(userInfo, into: UnsafeMutableRawBufferPointer(buffer))
            }
        }
    }

    /// Encodes a userInfo at the beginning of `buffer`. The userInfo may fill the buffer, up to
    /// `PropertyListLimits.bytes`.
    ///
    /// - Returns: the number of bytes.
    /// - Throws: `.userInfoNotUsable`; the buffer's content is then undefined.
    package static func encode(
        _ userInfo: [String: PropertyListValue], into buffer: UnsafeMutableRawBufferPointer
    ) throws(DistributedError) -> Int {
        guard let start = buffer.baseAddress else { preconditionFailure("PropertyListWriter: the buffer is empty") }
        var writer = PropertyListWriter(buffer, start)
        do throws(PropertyListRefusal) {
            try writer.write(dictionary: userInfo, depth: 1)
        } catch {
            throw error.error
        }
        return writer.next - start
    }

    private mutating func write(_ value: PropertyListValue, depth: Int) throws(PropertyListRefusal) {
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
            guard PropertyListLimits.dates.contains(seconds) else { throw .noDate }
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

    private mutating func write(array: [PropertyListValue], depth: Int) throws(PropertyListRefusal) {
        try begin(container: array.count, depth: depth)
        var index = 0
        do throws(PropertyListRefusal) {
            while index < array.count {
                try write(array[index], depth: depth)
                index += 1
            }
        } catch {
            throw error.inside(index: index)
        }
    }

    private mutating func write(dictionary: [String: PropertyListValue], depth: Int) throws(PropertyListRefusal) {
        try begin(container: dictionary.count, depth: depth)
        for (key, value) in dictionary {
            do throws(PropertyListRefusal) {
                try write(key)
                try write(value, depth: depth)
            } catch {
                throw error.inside(key: key)
            }
        }
    }

    private mutating func begin(container count: Int, depth: Int) throws(PropertyListRefusal) {
        guard depth <= PropertyListLimits.depth else { throw .tooDeep }
        // A value is counted with its container, as in the reader; the userInfo itself is counted too.
        nodes += count
        guard nodes < PropertyListLimits.nodes else { throw .tooMany }
        guard end - next >= 2 else { throw .tooLarge }
        write(UInt16(count))
    }

    private mutating func write(_ string: String) throws(PropertyListRefusal) {
        var string = string
        let isWritten = string.withUTF8 { text in
            guard end - next >= 2 + text.count else { return false }
            write(UInt16(text.count))
            if let start = text.baseAddress { next.copyMemory(from: start, byteCount: text.count) }
            next += text.count
            return true
        }
        guard isWritten else { throw .tooLarge }
    }

    /// Writes a tag.
    ///
    /// - Parameter room: the bytes that the tag and the rest of the value take.
    private mutating func write(tag: UInt8, room: Int) throws(PropertyListRefusal) {
        guard end - next >= room else { throw .tooLarge }
        next.storeBytes(of: tag, as: UInt8.self)
        next += 1
    }

    private mutating func write<Integer: FixedWidthInteger & BitwiseCopyable>(_ integer: Integer) {
        next.storeBytes(of: integer.littleEndian, as: Integer.self)
        next += MemoryLayout<Integer>.size
    }
}
