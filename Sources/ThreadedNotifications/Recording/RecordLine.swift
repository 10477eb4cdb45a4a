/// A line of a recording: one stage of one delivery, as JSON. The article *Recordings* describes the schema.
///
/// The line begins with its number and time, which are written when its position in the file is known.
package enum RecordLine {
    /// The version of the schema. It grows when existing keys change their meaning, not when keys are added.
    package static let version = 2

    /// The length in bytes at which strings are truncated.
    package static let maximumStringLength = 4096

    /// The largest number of bytes of a line's beginning.
    static let maximumBeginningLength = 64

    /// Writes the beginning of a line.
    static func writeBeginning(number: UInt64, monotonicNanoseconds: UInt64, into line: inout LineBuffer) {
        line.append("{\"n\":")
        line.append(number)
        line.append(",\"t\":")
        line.append(monotonicNanoseconds)
    }

    /// The largest number of bytes of the rest of a line with these strings.
    @inline(__always)
    static func maximumRestLength(_ name: String?, _ message: String?, _ file: String?, _ type: String?) -> Int {
        var length = 1024
        if let name { length &+= LineBuffer.maximumLength(name) }
        if let message { length &+= LineBuffer.maximumLength(message) }
        if let file { length &+= LineBuffer.maximumLength(file) }
        if let type { length &+= LineBuffer.maximumLength(type) }
        return length
    }

    /// Writes the line without its beginning, with the newline. The values are separate parameters, because composing a
    /// struct of them costs more than writing the line. A number that is 0 is omitted.
    @inline(__always)
    static func writeRest(
        thread: Int, stage: String, name: String?, post: UInt64, observer: UInt64, target: Int, message: String?,
        location: SourceLocation?, count: Int?, sender: DeliveryEvent.Sender?, relatedPost: UInt64,
        overtakes: Bool = false, style: String? = nil, policy: String? = nil, reason: String? = nil, signal: Int = 0,
        counters: DeliveryCounters? = nil, into line: inout LineBuffer
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
        if let location {
            write(",\"file\":\"", location.file, into: &line)
            if location.line > 0 { write(",\"line\":", UInt64(location.line), into: &line) }
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
        if overtakes { line.append(",\"overtakes\":true") }
        if let style { write(",\"style\":\"", style, into: &line) }
        if let policy { write(",\"policy\":\"", policy, into: &line) }
        if let reason { write(",\"reason\":\"", reason, into: &line) }
        write(",\"signal\":", UInt64(signal), into: &line)
        if let counters { write(counters, into: &line) }
        line.append("}\n")
    }

    /// The complete line, with the newline.
    package static func bytes(
        number: UInt64, monotonicNanoseconds: UInt64, thread: Int, stage: String, name: String? = nil, post: UInt64 = 0,
        observer: UInt64 = 0, target: Int = 0, message: String? = nil, location: SourceLocation? = nil,
        count: Int? = nil,
        sender: DeliveryEvent.Sender? = nil, relatedPost: UInt64 = 0, overtakes: Bool = false, style: String? = nil,
        policy: String? = nil, reason: String? = nil, signal: Int = 0, counters: DeliveryCounters? = nil
    ) -> [UInt8] {
        let capacity = maximumBeginningLength + maximumRestLength(name, message, location?.file, sender?.type)
        return [UInt8](unsafeUninitializedCapacity: capacity) { memory, length in
            guard let start = memory.baseAddress else { return }
            var line = LineBuffer(start)
            writeBeginning(number: number, monotonicNanoseconds: monotonicNanoseconds, into: &line)
            writeRest(
                thread: thread, stage: stage, name: name, post: post, observer: observer, target: target,
                message: message, location: location, count: count, sender: sender, relatedPost: relatedPost,
                overtakes: overtakes, style: style, policy: policy, reason: reason, signal: signal, counters: counters,
                into: &line)
            length = line.count
        }
    }

    private static func write(_ counters: DeliveryCounters, into line: inout LineBuffer) {
        line.append(",\"counters\":{")
        for (number, outcome) in DeliveryOutcome.allCases.filter({ counters[$0] > 0 }).enumerated() {
            if number > 0 { line.append(UInt8(ascii: ",")) }
            line.append(UInt8(ascii: "\""))
            line.append(escaped: outcome.rawValue)
            line.append("\":")
            line.append(UInt64(counters[outcome]))
        }
        line.append(UInt8(ascii: "}"))
    }

    private static func write(_ key: StaticString, _ number: UInt64, into line: inout LineBuffer) {
        guard number != 0 else { return }
        line.append(key)
        line.append(number)
    }

    private static func write(_ key: StaticString, _ string: String, into line: inout LineBuffer) {
        line.append(key)
        if string.utf8.count <= maximumStringLength {
            line.append(escaped: string)
        } else {
            line.append(escaped: truncated(string, to: maximumStringLength))
        }
        line.append(UInt8(ascii: "\""))
    }

    /// A string of at most so many bytes and an ellipsis.
    fileprivate static func truncated(_ string: String, to maximumLength: Int) -> String {
        guard string.utf8.count > maximumLength else { return string }
        var beginning = String.UnicodeScalarView()
        var length = 0
        for scalar in string.unicodeScalars {
            length += UTF8.width(scalar)
            if length > maximumLength { break }
            beginning.append(scalar)
        }
        return String(beginning) + "…"
    }
}

/// The lines of a recording that are not stages.
package enum RecordingHeader {
    /// The beginning of the first line of every recording.
    package static let beginning: StaticString = "{\"recording\":"

    /// The line before the records of a process.
    /// - Parameter number: the number of the next record.
    package static func text(
        process: Int32, name: String, number: UInt64, monotonicNanoseconds: UInt64, wallNanoseconds: Int64
    ) -> [UInt8] {
        line { line in
            line.append(beginning)
            line.append(UInt64(RecordLine.version))
            line.append(",\"process\":")
            line.append(UInt64(UInt32(bitPattern: process)))
            line.append(",\"name\":\"")
            line.append(escaped: RecordLine.truncated(name, to: maximumNameLength))
            line.append("\",\"n\":")
            line.append(number)
            line.append(",\"t\":")
            line.append(monotonicNanoseconds)
            line.append(",\"wall\":")
            line.append(UInt64(max(0, wallNanoseconds)))
            line.append("}\n")
        }
    }

    /// The line that identifies a thread, before the first record of it.
    package static func text(_ thread: ThreadIdentity) -> [UInt8] {
        line { line in
            line.append("{\"thread\":")
            line.append(UInt64(thread.number))
            if let name = thread.name {
                line.append(",\"name\":\"")
                line.append(escaped: RecordLine.truncated(name, to: maximumNameLength))
                line.append(UInt8(ascii: "\""))
            }
            line.append(",\"kernelID\":")
            line.append(UInt64(UInt32(bitPattern: thread.kernelID)))
            line.append("}\n")
        }
    }

    /// The length in bytes at which names are truncated.
    private static let maximumNameLength = 256
    /// The largest number of bytes of a line.
    static let maximumLength = 256 + maximumNameLength * 6

    private static func line(_ write: (inout LineBuffer) -> Void) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: maximumLength) { memory, count in
            guard let start = memory.baseAddress else { return }
            var line = LineBuffer(start)
            write(&line)
            count = line.count
        }
    }
}
