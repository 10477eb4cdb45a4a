internal import CLinux
internal import TerminalText

/// The end of the file of a recorded process, so that `notify-demo record` can append the end that the process could
/// not record. A pure value.
package struct RecordingTail {
    /// The number of records, and of those of posts and of ends, of all processes in the file.
    package private(set) var recordCount = 0
    package private(set) var postCount = 0
    package private(set) var endCount = 0
    /// What could not be recorded, and why.
    package private(set) var unrecorded: [String] = []
    private var (process, version): (UInt64?, UInt64) = (nil, 0)
    private var (number, time): (UInt64, UInt64) = (0, 0)
    private var hasEnd = false
    /// The parts of records after the last whole one.
    private var parts: UInt64 = 0

    package init() {}

    /// - Parameter lines: whole lines, in the order of the file.
    package mutating func take(_ lines: [UInt8]) {
        lines.withUnsafeBufferPointer { bytes in
            var last: UnsafeBufferPointer<UInt8>?
            for var line in bytes.split(separator: 0x0A).map({ UnsafeBufferPointer(rebasing: $0) }) {
                if let nul = line.lastIndex(of: 0) {
                    line = UnsafeBufferPointer(rebasing: line[(nul + 1)...])
                    guard line.first == UInt8(ascii: "{"), line.last == UInt8(ascii: "}") else {
                        // The identity of a thread is no record: the record that it precedes is counted.
                        if !line.starts(with: "\"thread\":".utf8) { parts += 1 }
                        continue
                    }
                }
                guard line.count > 2 else { continue }
                // The first key tells what a line is.
                switch line[2] {
                case UInt8(ascii: "n"):
                    (last, parts) = (line, 0)
                    recordCount += 1
                    hasEnd = Self.has(stage: "end", line)
                    if hasEnd { endCount += 1 }
                    if Self.has(stage: "post", line) { postCount += 1 }
                case UInt8(ascii: "r"):
                    let header = try? RecordFields(line)
                    (process, version) = (header?.number(.process), header?.number(.recording) ?? 0)
                    (number, time, hasEnd, parts, last) = (0, 0, false, 0, nil)
                case UInt8(ascii: "u"):
                    if let text = (try? RecordFields(line))?.text(.unrecorded) { unrecorded.append(text) }
                default: break
                }
            }
            if let fields = last.flatMap({ try? RecordFields($0) }) {
                (number, time) = (fields.number(.n) ?? number, fields.number(.t) ?? time)
            }
        }
    }

    /// The line with the end of a process; nil if the file's last process is another one, has an end, or may have lost
    /// its last records, as in version 2.
    ///
    /// - Parameter now: the monotonic clock, in nanoseconds.
    package func end(of process: Int32, _ reason: Recording.Reason, now: UInt64) -> [UInt8]? {
        guard self.process == UInt64(process), version >= 3, !hasEnd else { return nil }
        return record(.end, reason, now: now)
    }

    /// The line of a record that the process could not record itself, because it has ended.
    package func record(
        _ stage: DeliveryStage, _ reason: Recording.Reason, count: Int? = nil, message: String? = nil, now: UInt64
    ) -> [UInt8] {
        let fields: [(String, String?)] = [
            ("n", "\(Int(clamping: number) + Int(parts) + 1)"), ("t", "\(max(now, time))"),
            // Only an end needs no thread.
            ("thread", stage == .end ? nil : "1"), ("stage", "\"\(stage.rawValue)\""),
            ("count", count.map(String.init)),
            ("reason", "\"\(reason.isSignal ? "signal" : reason.description)\""),
            ("signal", reason.isSignal ? String(reason.description.dropFirst(7)) : nil),
            ("message", message.map(ShownText.quoted)),
        ]
        let members = fields.compactMap { key, value in value.map { "\"\(key)\":\($0)" } }
        return Array("{\(members.joined(separator: ","))}\n".utf8)
    }

    private static func has(stage: String, _ line: UnsafeBufferPointer<UInt8>) -> Bool {
        let key = "\"stage\":\"\(stage)\""
        // In a string of JSON, the quotation marks would be escaped.
        return memmem(line.baseAddress!, line.count, key, key.utf8.count) != nil
    }
}
