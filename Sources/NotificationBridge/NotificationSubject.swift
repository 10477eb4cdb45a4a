/// The subjects of NATS on which a bridge publishes: the prefix, a dot, and the notification's name.
///
/// Bytes with a meaning in subjects, and those that are not ASCII, are written as in URLs: `%20` for a space.
enum NotificationSubject {
    static func of(_ name: String, prefix: String) -> String {
        var subject = "\(prefix)."
        var previous = UInt8(ascii: ".")
        for (index, byte) in name.utf8.enumerated() {
            let isLast = index == name.utf8.count - 1
            switch byte {
            case UInt8(ascii: ".") where previous != byte && !isLast,
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                subject.unicodeScalars.append(UnicodeScalar(byte))
                previous = byte
            default:
                subject += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
                previous = 0
            }
        }
        return subject
    }

    /// All of a prefix.
    static func all(prefix: String) -> String { "\(prefix).>" }
}
