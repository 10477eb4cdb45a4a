internal import Foundation

extension FrameWriter {
    /// Appends a userInfo in the form of `PropertyListTag`, within the limits of `Wire`; nil appends nothing.
    ///
    /// A real may be infinite or not a number, and arrives with the same 64 bits. A date may be neither.
    /// - Throws: `.userInfoNotUsable`. Then a part of the userInfo is appended.
    package mutating func userInfo(_ userInfo: [String: PropertyListValue]?) throws(DistributedError) {
        guard let userInfo else { return }
        var room = UserInfoRoom()
        try dictionary(userInfo, depth: 1, &room)
    }

    private mutating func value(
        _ value: PropertyListValue, depth: Int, _ room: inout UserInfoRoom
    ) throws(DistributedError) {
        switch value {
        case .string(let text):
            try room.take(3 + text.utf8.count)
            integer(PropertyListTag.string)
            string(text)
        case .integer(let number): try eightBytes(PropertyListTag.integer, UInt64(bitPattern: number), &room)
        case .real(let real): try eightBytes(PropertyListTag.real, real.bitPattern, &room)
        case .boolean(let boolean):
            try room.take(1)
            integer(boolean ? PropertyListTag.yes : PropertyListTag.no)
        case .date(let date):
            let seconds = date.timeIntervalSinceReferenceDate
            guard Wire.dates.contains(seconds) else {
                throw .userInfoNotUsable(problem: "is a date outside the years 1 to 9999")
            }
            try eightBytes(PropertyListTag.date, seconds.bitPattern, &room)
        case .data(let data):
            try room.take(3 + data.count)
            integer(PropertyListTag.data)
            integer(UInt16(data.count))
            append(data)
        case .array(let array):
            try room.take(3, values: array.count, depth: depth + 1)
            integer(PropertyListTag.array)
            integer(UInt16(array.count))
            for (index, element) in array.enumerated() {
                do throws(DistributedError) { try self.value(element, depth: depth + 1, &room) } catch {
                    throw error.inside(index: index)
                }
            }
        case .dictionary(let members):
            try room.take(1)
            integer(PropertyListTag.dictionary)
            try dictionary(members, depth: depth + 1, &room)
        }
    }

    private mutating func dictionary(
        _ members: [String: PropertyListValue], depth: Int, _ room: inout UserInfoRoom
    ) throws(DistributedError) {
        try room.take(2, values: members.count, depth: depth)
        integer(UInt16(members.count))
        for (key, member) in members {
            do throws(DistributedError) {
                try room.take(2 + key.utf8.count)
                string(key)
                try value(member, depth: depth, &room)
            } catch {
                throw error.inside(key: key)
            }
        }
    }

    private mutating func eightBytes(
        _ tag: UInt8, _ bits: UInt64, _ room: inout UserInfoRoom
    ) throws(DistributedError) {
        try room.take(9)
        integer(tag)
        integer(bits)
    }
}

/// What may still be appended. It is taken before anything is written.
private struct UserInfoRoom {
    private var bytes = Wire.userInfoLimit
    /// The userInfo itself is one.
    private var values = Wire.valueLimit - 1

    /// - Parameters:
    ///   - values: the elements of an array or a dictionary.
    ///   - depth: its nesting.
    mutating func take(_ bytes: Int, values: Int = 0, depth: Int = 0) throws(DistributedError) {
        try PropertyListValue.checkDepth(depth)
        (self.bytes, self.values) = (self.bytes - bytes, self.values - values)
        guard self.values >= 0 else {
            throw .userInfoNotUsable(problem: "is where the userInfo exceeds \(Wire.valueLimit) values")
        }
        guard self.bytes >= 0 else {
            throw .userInfoNotUsable(
                problem: "is where the userInfo exceeds \(Wire.userInfoLimit >> 10) KiB. Write large data to a file, "
                    + "and post its path")
        }
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
/// multiple of the bytes.
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
