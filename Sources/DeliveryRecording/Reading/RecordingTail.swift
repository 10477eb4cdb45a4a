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

    package init() {}

    /// - Parameter lines: whole lines, in the order of the file.
    package mutating func take(_ lines: [UInt8]) {
        lines.withUnsafeBufferPointer { bytes in
            for line in bytes.split(separator: 0x0A) {
                // NUL bytes before a line are room that was not used.
                if let fields = try? RecordFields(UnsafeBufferPointer(rebasing: line.drop { $0 == 0 })) { take(fields) }
            }
        }
    }

    private mutating func take(_ fields: RecordFields) {
        if let version = fields.number(.recording) {
            (process, self.version) = (fields.number(.process), version)
            (number, time, hasEnd) = (0, 0, false)
        } else if let stage = fields.text(.stage) {
            (number, time) = (fields.number(.n) ?? number, fields.number(.t) ?? time)
            hasEnd = stage == DeliveryStage.end.rawValue
            recordCount += 1
            endCount += hasEnd ? 1 : 0
            postCount += stage == DeliveryStage.post.rawValue ? 1 : 0
        } else if let text = fields.text(.unrecorded) {
            unrecorded.append(text)
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
            ("n", "\(Int(clamping: number) + 1)"), ("t", "\(max(now, time))"),
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
}
