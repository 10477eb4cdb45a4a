/// A line of a recording: one stage of one delivery, as JSON. The article *Recordings* has the schema.
///
/// The line begins with its number and time, which are put there when it is known which line of the file it becomes.
package enum RecordLine {
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

    /// How many bytes the rest of a line takes at most that has these strings.
    @inline(__always)
    static func longestRest(_ name: String?, _ message: String?, _ file: String?, _ type: String?) -> Int {
        var longest = 448
        if let name { longest &+= LineBuffer.longest(name) }
        if let message { longest &+= LineBuffer.longest(message) }
        if let file { longest &+= LineBuffer.longest(file) }
        if let type { longest &+= LineBuffer.longest(type) }
        return longest
    }

    /// The line but for its beginning, and with its newline. Each value in its place, and not in one of a type: to put it
    /// together would cost more than to write it. A number is 0 where there is none.
    @inline(__always)
    static func writeRest(
        thread: Int, stage: String, name: String?, post: UInt64, observer: UInt64, target: Int, message: String?,
        place: SourceLocation?, count: Int?, sender: DeliveryEvent.Sender?, relatedPost: UInt64,
        into line: inout LineBuffer
    ) {
        line.append(",\"thread\":")
        line.append(UInt64(thread))
        line.append(",\"stage\":\"")
        line.append(escaped: stage)
        line.append(UInt8(ascii: "\""))
        if let name { write(",\"name\":\"", name, into: &line) }
        write(",\"post\":", post, into: &line)
        write(",\"observer\":", observer, into: &line)
        write(",\"target\":", UInt64(target), into: &line)
        if let message { write(",\"message\":\"", message, into: &line) }
        if let place {
            write(",\"file\":\"", place.file, into: &line)
            if place.line > 0 { write(",\"line\":", UInt64(place.line), into: &line) }
        }
        if let count {
            line.append(",\"count\":")
            line.append(UInt64(max(0, count)))
        }
        if let sender {
            line.append(",\"sender\":\"")
            line.appendHexadecimal(sender.identifier)
            line.append(UInt8(ascii: "\""))
            write(",\"type\":\"", sender.type, into: &line)
        }
        write(",\"by\":", relatedPost, into: &line)
        line.append("}\n")
    }

    /// The whole line, with its newline.
    package static func bytes(
        number: UInt64, monotonicNanoseconds: UInt64, thread: Int, stage: String, name: String? = nil, post: UInt64 = 0,
        observer: UInt64 = 0, target: Int = 0, message: String? = nil, place: SourceLocation? = nil, count: Int? = nil,
        sender: DeliveryEvent.Sender? = nil, relatedPost: UInt64 = 0
    ) -> [UInt8] {
        let longest = longestBeginning + longestRest(name, message, place?.file, sender?.type)
        return [UInt8](unsafeUninitializedCapacity: longest) { memory, length in
            guard let start = memory.baseAddress else { return }
            var line = LineBuffer(start)
            writeBeginning(number: number, monotonicNanoseconds: monotonicNanoseconds, into: &line)
            writeRest(
                thread: thread, stage: stage, name: name, post: post, observer: observer, target: target,
                message: message, place: place, count: count, sender: sender, relatedPost: relatedPost, into: &line)
            length = line.count
        }
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
    /// How the first line of every recording begins.
    package static let beginning: StaticString = "{\"recording\":"

    /// The line before a process's records.
    /// - Parameter number: of the record that comes next.
    package static func text(
        process: Int32, name: String, number: UInt64, monotonicNanoseconds: UInt64, wallNanoseconds: Int64
    ) -> [UInt8] {
        line { line in
            line.append(beginning)
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
