/// A line of a log as NSLog writes it: `2016-02-13 22:05:12.856 test[865:45102] current thread = …`.
///
/// Of the time only the form is checked: runs are not compared by it.
struct LogLine {
    var process: String
    var processID: String
    /// As the log has it, decimal or hexadecimal.
    var threadID: String
    var message: String

    /// What a reader is told to expect.
    static let example = "2016-02-13 22:05:12.856 test[865:45102] a message"

    /// Why a text is no log line.
    enum Problem: Error, Hashable {
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
    init(_ bytes: some Collection<UInt8>) throws(Problem) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText }
        var rest = Substring(text).utf8
        guard rest.removeTime() else { throw .noTime }
        guard let (before, processID, threadID) = rest.removeIdentifiers() else { throw .noProcess }
        process = before
        self.processID = processID
        self.threadID = threadID
        if rest.first == UInt8(ascii: " ") { rest.removeFirst() }
        message = String(Substring(rest))
    }
}

extension Substring.UTF8View {
    /// Removes `2016-02-13 22:05:12.856 ` or `2016-02-13 22:05:12.856123+0100 `, if it is there.
    fileprivate mutating func removeTime() -> Bool {
        for expected in "0000-00-00 00:00:00.".utf8 {
            guard let byte = popFirst() else { return false }
            guard expected == UInt8(ascii: "0") ? byte.isDigit : byte == expected else { return false }
        }
        let fraction = prefix(while: \.isDigit)
        guard (1...9).contains(fraction.count) else { return false }
        removeFirst(fraction.count)
        if first == UInt8(ascii: "+") || first == UInt8(ascii: "-") {
            removeFirst()
            let offset = prefix(while: \.isDigit)
            guard offset.count == 4 else { return false }
            removeFirst(4)
        }
        return popFirst() == UInt8(ascii: " ")
    }

    /// Removes `test[865:45102]`: the first brackets that hold two identifiers, since a process name may have
    /// brackets of its own.
    fileprivate mutating func removeIdentifiers() -> (process: String, processID: String, threadID: String)? {
        var search = self[...]
        while let open = search.firstIndex(of: UInt8(ascii: "[")) {
            search = search[open...].dropFirst()
            var rest = search
            let processID = rest.prefix(while: \.isDigit)
            rest = rest.dropFirst(processID.count)
            guard !processID.isEmpty, rest.popFirst() == UInt8(ascii: ":") else { continue }
            let threadID = rest.prefix { $0.isDigit || $0.isHexadecimalLetter }
            rest = rest.dropFirst(threadID.count)
            guard !threadID.isEmpty, rest.popFirst() == UInt8(ascii: "]") else { continue }
            guard rest.first == nil || rest.first == UInt8(ascii: " ") else { continue }
            let process = self[..<open]
            guard !process.isEmpty else { return nil }
            defer { self = rest }
            return (String(Substring(process)), String(Substring(processID)), String(Substring(threadID)))
        }
        return nil
    }

    fileprivate mutating func popFirst() -> UInt8? {
        isEmpty ? nil : removeFirst()
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0") <= self && self <= UInt8(ascii: "9") }

    fileprivate var isHexadecimalLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
    }
}
