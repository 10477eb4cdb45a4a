/// A line of a log in NSLog's format: `2016-02-13 22:05:12.856 test[865:45102] current thread = …`.
///
/// Times are not compared, so of a fraction or a time zone only the characters are checked.
struct LogLine {
    let process: String
    let processID: String
    /// Decimal or hexadecimal, as in the log.
    let threadID: String
    let message: String

    /// The expected format, for error messages.
    static let example = "2016-02-13 22:05:12.856 test[865:45102] a message"

    private static let timeForm = Array("0000-00-00 00:00:00".utf8)
    /// In bytes, with the brackets.
    private static let longestIdentifiers = 64

    /// Nil if the bytes are not a log line.
    ///
    /// - Parameter bytes: one line, without its newline. The process name may contain brackets, so the first brackets
    ///   with two identifiers in them count.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        let form = Self.timeForm
        guard zip(bytes, form).allSatisfy({ $1 == UInt8(ascii: "0") ? $0.isDigit : $0 == $1 }),
            let space = bytes.dropFirst(form.count).firstIndex(of: UInt8(ascii: " ")),
            bytes[form.count..<space].allSatisfy({ $0.isDigit || ".+-".utf8.contains($0) })
        else { return nil }
        var search = space + 1
        while let open = bytes[search...].firstIndex(of: UInt8(ascii: "[")) {
            search = open + 1
            guard let close = bytes[search...].prefix(Self.longestIdentifiers).firstIndex(of: UInt8(ascii: "]")),
                open > space + 1, bytes[(close + 1)...].first ?? UInt8(ascii: " ") == UInt8(ascii: " ")
            else { continue }
            let identifiers = bytes[search..<close].split(
                separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            guard identifiers.count == 2, !identifiers.contains(where: \.isEmpty),
                identifiers[0].allSatisfy(\.isDigit),
                identifiers[1].allSatisfy({ $0.isDigit || $0.isHexadecimalLetter })
            else { continue }
            process = String(decoding: bytes[(space + 1)..<open], as: UTF8.self)
            processID = String(decoding: identifiers[0], as: UTF8.self)
            threadID = String(decoding: identifiers[1], as: UTF8.self)
            message = String(decoding: bytes[close...].dropFirst(2), as: UTF8.self)
            return
        }
        return nil
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0") <= self && self <= UInt8(ascii: "9") }

    fileprivate var isHexadecimalLetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "f") ~= self | 0x20 }
}
