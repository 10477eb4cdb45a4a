/// A line of a recording: one stage of one delivery, as JSON. The article *Recordings* has the schema.
///
/// The line begins with its number and time, which are put there when it is known which line of the file it becomes.
package struct RecordLine {
    package var thread: Int
    package var stage: String
    package var name: String?
    /// 0: none; and so with the other numbers.
    package var post: UInt64 = 0
    package var observer: UInt64 = 0
    package var target: Int = 0
    package var message: String?
    package var place: SourcePlace?
    package var count: Int?
    package var sender: DeliveryEvent.Sender?
    package var relatedPost: UInt64 = 0

    package init(thread: Int, stage: String) {
        self.thread = thread
        self.stage = stage
    }

    /// The version of the schema, which readers ask for. It grows when what is there changes its meaning; that there is more
    /// changes no version.
    package static let version = 1

    /// In bytes; a longer string is cut off.
    package static let longestString = 4096

    /// How many bytes a line's beginning takes at most.
    static let longestBeginning = 64

    /// The beginning of every line.
    static func writeBeginning(number: UInt64, monotonicNanoseconds: UInt64, into line: inout LineBuffer) {
        line.append("{\"n\":")
        line.append(number)
        line.append(",\"t\":")
        line.append(monotonicNanoseconds)
    }

    /// Calls `body` with the line but for its beginning, and with its newline.
    func withRest<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let longest =
            400
            + [stage, name, message, place?.file, sender?.type].reduce(0) { sum, string in
                sum + (string.map { LineBuffer.longest($0) } ?? 0)
            }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { memory in
            guard let start = memory.baseAddress else { return body(UnsafeBufferPointer(start: nil, count: 0)) }
            var line = LineBuffer(start)
            write(into: &line)
            return body(UnsafeBufferPointer(start: start, count: line.count))
        }
    }

    /// The whole line, with its newline.
    package func bytes(number: UInt64, monotonicNanoseconds: UInt64) -> [UInt8] {
        let beginning = [UInt8](unsafeUninitializedCapacity: Self.longestBeginning) { memory, count in
            guard let start = memory.baseAddress else { return }
            var line = LineBuffer(start)
            Self.writeBeginning(number: number, monotonicNanoseconds: monotonicNanoseconds, into: &line)
            count = line.count
        }
        return withRest { beginning + $0 }
    }

    private func write(into line: inout LineBuffer) {
        line.append(",\"thread\":")
        line.append(UInt64(thread))
        Self.write(",\"stage\":\"", stage, into: &line)
        if let name { Self.write(",\"name\":\"", name, into: &line) }
        Self.write(",\"post\":", post, into: &line)
        Self.write(",\"observer\":", observer, into: &line)
        Self.write(",\"target\":", UInt64(target), into: &line)
        if let message { Self.write(",\"message\":\"", message, into: &line) }
        if let place {
            Self.write(",\"file\":\"", place.file, into: &line)
            if place.line > 0 { Self.write(",\"line\":", UInt64(place.line), into: &line) }
        }
        if let count {
            line.append(",\"count\":")
            line.append(UInt64(max(0, count)))
        }
        if let sender {
            line.append(",\"sender\":\"")
            line.appendHexadecimal(sender.identifier)
            line.append(UInt8(ascii: "\""))
            Self.write(",\"type\":\"", sender.type, into: &line)
        }
        Self.write(",\"by\":", relatedPost, into: &line)
        line.append("}\n")
    }

    private static func write(_ key: StaticString, _ number: UInt64, into line: inout LineBuffer) {
        guard number != 0 else { return }
        line.append(key)
        line.append(number)
    }

    private static func write(_ key: StaticString, _ string: String, into line: inout LineBuffer) {
        line.append(key)
        if string.utf8.count <= longestString {
            line.append(escaped: string)
        } else {
            line.append(escaped: cut(string, to: longestString))
        }
        line.append(UInt8(ascii: "\""))
    }

    /// The beginning of a string that is too long.
    fileprivate static func cut(_ string: String, to longest: Int) -> String {
        guard string.utf8.count > longest else { return string }
        var cut = String.UnicodeScalarView()
        var length = 0
        for scalar in string.unicodeScalars {
            length += UTF8.width(scalar)
            if length > longest { break }
            cut.append(scalar)
        }
        return String(cut) + "…"
    }
}

/// The lines of a recording that are of no stage.
package enum RecordingHeader {
    /// The line before a process's records.
    /// - Parameter number: of the record that comes next.
    package static func text(
        process: Int32, name: String, number: UInt64, monotonicNanoseconds: UInt64, wallNanoseconds: Int64
    ) -> [UInt8] {
        line { line in
            line.append("{\"recording\":")
            line.append(UInt64(RecordLine.version))
            line.append(",\"process\":")
            line.append(UInt64(UInt32(bitPattern: process)))
            line.append(",\"name\":\"")
            line.append(escaped: RecordLine.cut(name, to: longestName))
            line.append("\",\"n\":")
            line.append(number)
            line.append(",\"t\":")
            line.append(monotonicNanoseconds)
            line.append(",\"wall\":")
            line.append(UInt64(max(0, wallNanoseconds)))
            line.append("}\n")
        }
    }

    /// The line that says who a thread is, before the first record that is of it.
    package static func text(_ thread: ThreadIdentity) -> [UInt8] {
        line { line in
            line.append("{\"thread\":")
            line.append(UInt64(thread.number))
            if let name = thread.name {
                line.append(",\"name\":\"")
                line.append(escaped: RecordLine.cut(name, to: longestName))
                line.append(UInt8(ascii: "\""))
            }
            line.append(",\"kernelID\":")
            line.append(UInt64(UInt32(bitPattern: thread.kernelID)))
            line.append("}\n")
        }
    }

    /// In bytes.
    private static let longestName = 256
    /// In bytes, of any of these lines at most.
    static let longest = 256 + longestName * 6

    private static func line(_ write: (inout LineBuffer) -> Void) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: longest) { memory, count in
            guard let start = memory.baseAddress else { return }
            var line = LineBuffer(start)
            write(&line)
            count = line.count
        }
    }
}
