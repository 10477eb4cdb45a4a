internal import Foundation

extension FrameWriter {
    /// Appends a userInfo in the form of `PropertyListTag`, within the limits of `Wire`; nil appends nothing.
    ///
    /// A real may be infinite or not a number, and arrives with the same 64 bits. A date may be neither.
    /// - Throws: `.userInfoNotUsable`. Then a part of the userInfo is appended.
    package mutating func userInfo(_ userInfo: [String: PropertyListValue]?) throws(DistributedError) {
        guard let userInfo else { return }
        // The userInfo itself is a value.
        var room = (end: bytes.count + Wire.userInfoLimit, values: Wire.valueLimit - 1)
        try dictionary(userInfo, depth: 1, &room)
        // The bytes of numbers and booleans are counted only here: so few values have not many more than fit.
        guard bytes.count <= room.end else { throw Self.tooLarge }
    }

    private mutating func value(
        _ value: PropertyListValue, depth: Int, _ room: inout UserInfoRoom
    ) throws(DistributedError) {
        switch value {
        case .string(let text):
            integer(PropertyListTag.string)
            try part(text.utf8, room)
        case .integer(let number):
            integer(PropertyListTag.integer)
            integer(number)
        case .real(let real):
            integer(PropertyListTag.real)
            integer(real.bitPattern)
        case .boolean(let boolean): integer(boolean ? PropertyListTag.yes : PropertyListTag.no)
        case .date(let date):
            guard Wire.dates.contains(date.timeIntervalSinceReferenceDate) else {
                throw .userInfoNotUsable(problem: "has a date outside the years 1 to 9999")
            }
            integer(PropertyListTag.date)
            integer(date.timeIntervalSinceReferenceDate.bitPattern)
        case .data(let data):
            integer(PropertyListTag.data)
            try part(data, room)
        case .array(let array):
            integer(PropertyListTag.array)
            try elements(array.count, depth: depth + 1, &room)
            for element in array { try self.value(element, depth: depth + 1, &room) }
        case .dictionary(let members):
            integer(PropertyListTag.dictionary)
            try dictionary(members, depth: depth + 1, &room)
        }
    }

    private mutating func dictionary(
        _ members: [String: PropertyListValue], depth: Int, _ room: inout UserInfoRoom
    ) throws(DistributedError) {
        try elements(members.count, depth: depth, &room)
        for (key, member) in members {
            try part(key.utf8, room)
            try value(member, depth: depth, &room)
        }
    }

    private mutating func part(_ part: some Collection<UInt8>, _ room: UserInfoRoom) throws(DistributedError) {
        guard bytes.count + 2 + part.count <= room.end else { throw Self.tooLarge }
        integer(UInt16(part.count))
        append(part)
    }

    private mutating func elements(_ count: Int, depth: Int, _ room: inout UserInfoRoom) throws(DistributedError) {
        try PropertyListValue.checkDepth(depth, "userInfo")
        room.values -= count
        guard room.values >= 0 else { throw .userInfoNotUsable(problem: "exceeds \(Wire.valueLimit) values") }
        integer(UInt16(count))
    }

    private static var tooLarge: DistributedError {
        .userInfoNotUsable(
            problem: "exceeds \(Wire.userInfoLimit >> 10) KiB. Write large data to a file, and post its path")
    }
}

/// The largest number of bytes of the frame, and the number of values that may still be appended.
private typealias UserInfoRoom = (end: Int, values: Int)

/// The first byte of a value on the wire. The value follows it; all integers are little-endian:
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
