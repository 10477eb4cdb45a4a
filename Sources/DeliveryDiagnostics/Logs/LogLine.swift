/// A line of a log in NSLog's format: `2016-02-13 22:05:12.856 test[865:45102] current thread = …`.
///
/// Only the format of the time is checked, because times are not compared. The fraction and the time zone are optional.
struct LogLine {
    let process: String
    let processID: String
    /// Decimal or hexadecimal, as in the log.
    let threadID: String
    let message: String

    /// The expected format, for error messages.
    static let example = "2016-02-13 22:05:12.856 test[865:45102] a message"

    fileprivate static let timeForm = Array("0000-00-00 00:00:00".utf8)

    /// The reason why a text is not a log line.
    enum Problem: String, Error {
        case noTime = "it does not begin with a date and a time"
        case noProcess = "no process[process id:thread id] follows the time"
    }

    /// - Parameter bytes: one line, without its newline. The process name may contain brackets, so the first brackets
    ///   with two identifiers in them count.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(Problem) {
        guard let start = bytes.timeEnd else { throw .noTime }
        var search = start
        while let open = bytes[search...].firstIndex(of: UInt8(ascii: "[")) {
            search = open + 1
            let colon = bytes.end(from: search, while: \.isDigit)
            guard colon > search, bytes.has(":", at: colon) else { continue }
            let close = bytes.end(from: colon + 1) { $0.isDigit || $0.isHexadecimalLetter }
            guard close > colon + 1, bytes.has("]", at: close) else { continue }
            let end = close + 1
            guard end == bytes.count || bytes.has(" ", at: end) else { continue }
            guard open > start else { break }
            process = String(decoding: bytes[start..<open], as: UTF8.self)
            processID = String(decoding: bytes[search..<colon], as: UTF8.self)
            threadID = String(decoding: bytes[(colon + 1)..<close], as: UTF8.self)
            message = String(decoding: bytes[min(end + 1, bytes.count)...], as: UTF8.self)
            return
        }
        throw .noProcess
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func has(_ character: Unicode.Scalar, at index: Int) -> Bool {
        index < count && self[index] == UInt8(ascii: character)
    }

    /// The end of the bytes from an index on that satisfy a condition.
    fileprivate func end(from start: Int, while isPart: (UInt8) -> Bool) -> Int {
        self[start...].firstIndex { !isPart($0) } ?? count
    }

    /// The end of `2016-02-13 22:05:12 `, `2016-02-13 22:05:12.856 ` or `2016-02-13 22:05:12.856123+0100 ` at the
    /// beginning of the line, if it is there.
    fileprivate var timeEnd: Int? {
        let form = LogLine.timeForm
        guard count > form.count,
            zip(self, form).allSatisfy({ $1 == UInt8(ascii: "0") ? $0.isDigit : $0 == $1 })
        else { return nil }
        var end = form.count
        func skipDigits(_ counts: ClosedRange<Int>) -> Bool {
            let start = end + 1
            end = self.end(from: start, while: \.isDigit)
            return counts.contains(end - start)
        }
        if has(".", at: end), !skipDigits(1...9) { return nil }
        if has("+", at: end) || has("-", at: end), !skipDigits(4...4) { return nil }
        return has(" ", at: end) ? end + 1 : nil
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0") <= self && self <= UInt8(ascii: "9") }

    fileprivate var isHexadecimalLetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "f") ~= self | 0x20 }
}
