/// A line of a log in NSLog's format: `2016-02-13 22:05:12.856 test[865:45102] current thread = …`.
///
/// Only the format of the time is checked, because times are not compared. The fraction and the time zone are optional.
package struct LogLine: Hashable, Sendable {
    let process: String
    let processID: String
    /// Decimal or hexadecimal, as in the log.
    package let threadID: String
    let message: String

    /// The expected format, for error messages.
    static let example = "2016-02-13 22:05:12.856 test[865:45102] a message"

    /// The reason why a text is not a log line.
    package enum Problem: Error, Hashable {
        case noTime
        case noProcess

        var description: String {
            switch self {
            case .noTime: "it does not begin with a date and a time"
            case .noProcess: "no process[process id:thread id] follows the time"
            }
        }
    }

    /// - Parameter text: one line, without its newline.
    package init(_ text: some Collection<UInt8>) throws(Problem) {
        self = try Array(text).withUnsafeBufferPointer { bytes throws(Problem) in try LogLine(bytes) }
    }

    /// The process name may contain brackets, so the first brackets with two identifiers in them count.
    init(_ bytes: UnsafeBufferPointer<UInt8>) throws(Problem) {
        guard let start = bytes.timeEnd else { throw .noTime }
        var search = start
        while let open = bytes[search...].firstIndex(of: UInt8(ascii: "[")) {
            search = open + 1
            let colon = bytes.end(from: search, while: \.isDigit)
            guard colon > search, colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { continue }
            let close = bytes.end(from: colon + 1) { $0.isDigit || $0.isHexadecimalLetter }
            guard close > colon + 1, close < bytes.count, bytes[close] == UInt8(ascii: "]") else { continue }
            let end = close + 1
            guard end == bytes.count || bytes[end] == UInt8(ascii: " ") else { continue }
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
    /// The end of the bytes from an index on that satisfy a condition.
    fileprivate func end(from start: Int, while isPart: (UInt8) -> Bool) -> Int {
        var end = start
        while end < count, isPart(self[end]) { end += 1 }
        return end
    }

    /// The end of `2016-02-13 22:05:12 `, `2016-02-13 22:05:12.856 ` or `2016-02-13 22:05:12.856123+0100 ` at the
    /// beginning of the line, if it is there.
    fileprivate var timeEnd: Int? {
        let form: StaticString = "0000-00-00 00:00:00"
        guard count > form.utf8CodeUnitCount else { return nil }
        for index in 0..<form.utf8CodeUnitCount {
            let expected = form.utf8Start[index]
            guard expected == UInt8(ascii: "0") ? self[index].isDigit : self[index] == expected else { return nil }
        }
        var end = form.utf8CodeUnitCount
        if self[end] == UInt8(ascii: ".") {
            let fraction = end + 1
            end = self.end(from: fraction, while: \.isDigit)
            guard (1...9).contains(end - fraction), end < count else { return nil }
        }
        if self[end] == UInt8(ascii: "+") || self[end] == UInt8(ascii: "-") {
            let offset = end + 1
            end = self.end(from: offset, while: \.isDigit)
            guard end - offset == 4, end < count else { return nil }
        }
        return self[end] == UInt8(ascii: " ") ? end + 1 : nil
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0") <= self && self <= UInt8(ascii: "9") }

    fileprivate var isHexadecimalLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }
}
