/// The byte that a value begins with on the wire.
///
/// A value is its tag and then, all integers little-endian:
///
///     string, data       u16 length, bytes
///     integer            i64
///     real, date         the 64 bits of the number; of a date, seconds since 2001
///     no, yes            nothing
///     array              u16 count, values
///     dictionary         u16 count, as often: u16 length, the key's bytes, value
///
/// A userInfo is a dictionary without the tag. Values are written where they stand; there are no references, so what is read
/// is never larger than a multiple of the bytes. Lengths have one width, so a value has one form, but for the order of keys,
/// which is that of Swift's dictionary: sorting them would cost more than all else, and nobody compares the bytes.
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
