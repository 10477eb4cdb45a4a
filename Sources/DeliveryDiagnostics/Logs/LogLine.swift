/// A line of a log in NSLog's format: `2016-02-13 22:05:12.856 test[865:45102] current thread = …`.
///
/// Only the format of the time is checked: times are not compared.
package struct LogLine: Sendable {
    /// The line without its newline.
    let text: String
    /// The ranges of its parts, in UTF-8.
    private let fields: Fields

    var process: String { part(fields.process) }
    var processID: String { part(fields.processID) }
    /// Decimal or hexadecimal, as in the log.
    package var threadID: String { part(fields.threadID) }
    package var message: String { part(fields.message) }

    private func part(_ range: Range<Int>) -> String {
        let bytes = text.utf8
        return String(
            text[
                bytes.index(
                    bytes.startIndex, offsetBy: range.lowerBound)..<bytes.index(
                        bytes.startIndex, offsetBy: range.upperBound)])
    }

    /// The expected format, for error messages.
    static let example = "2016-02-13 22:05:12.856 test[865:45102] a message"

    /// The reason why a text is not a log line.
    package enum Problem: Error, Hashable {
        case notText
        case noTime
        case noProcess

        var description: String {
            switch self {
            case .notText: "it is not UTF-8 text"
            case .noTime: "it does not begin with a date and a time"
            case .noProcess: "no process[process id:thread id] follows the time"
            }
        }
    }

    /// - Parameter bytes: one line, without its newline.
    package init(_ bytes: some Collection<UInt8>) throws(Problem) {
        guard var text = String(validating: bytes, as: UTF8.self) else { throw .notText }
        let read: Result<Fields, Problem> = text.withUTF8 { bytes in
            guard let timeEnd = bytes.timeEnd else { return .failure(.noTime) }
            return Fields(bytes, from: timeEnd).map { .success($0) } ?? .failure(.noProcess)
        }
        fields = try read.get()
        self.text = text
    }
}

/// The parts of a line, as ranges of bytes.
private struct Fields {
    var process: Range<Int>
    var processID: Range<Int>
    package var threadID: Range<Int>
    package var message: Range<Int>

    /// Searches for `test[865:45102]`: the first brackets that contain two identifiers, because a process name may
    /// contain brackets.
    init?(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) {
        var search = start
        while let open = bytes[search...].firstIndex(of: UInt8(ascii: "[")) {
            search = open + 1
            let colon = bytes.end(from: search, while: \.isDigit)
            guard colon > search, colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { continue }
            let close = bytes.end(from: colon + 1) { $0.isDigit || $0.isHexadecimalLetter }
            guard close > colon + 1, close < bytes.count, bytes[close] == UInt8(ascii: "]") else { continue }
            let end = close + 1
            guard end == bytes.count || bytes[end] == UInt8(ascii: " ") else { continue }
            guard open > start else { return nil }
            process = start..<open
            processID = search..<colon
            threadID = (colon + 1)..<close
            message = min(end + 1, bytes.count)..<bytes.count
            return
        }
        return nil
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The end of the bytes from an index on that satisfy a condition.
    fileprivate func end(from start: Int, while isPart: (UInt8) -> Bool) -> Int {
        var end = start
        while end < count, isPart(self[end]) { end += 1 }
        return end
    }

    /// The end of `2016-02-13 22:05:12.856 ` or `2016-02-13 22:05:12.856123+0100 ` at the beginning of the line, if it
    /// is there.
    fileprivate var timeEnd: Int? {
        let form: StaticString = "0000-00-00 00:00:00."
        guard count > form.utf8CodeUnitCount else { return nil }
        for index in 0..<form.utf8CodeUnitCount {
            let expected = form.utf8Start[index]
            guard expected == UInt8(ascii: "0") ? self[index].isDigit : self[index] == expected else { return nil }
        }
        let fraction = form.utf8CodeUnitCount
        var end = end(from: fraction, while: \.isDigit)
        guard (1...9).contains(end - fraction), end < count else { return nil }
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
