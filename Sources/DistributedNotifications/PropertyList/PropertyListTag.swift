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
