internal import ThreadedNotifications

/// Formats records as the lines of a file.
///
/// The records must come from one run, in order. Header and thread lines precede the first record that needs them.
package struct RecordLines {
    private var process: ProcessIdentity?
    private var number = 0
    private var introduced: [Recording.Numbered: ThreadIdentity] = [:]

    package init() {}

    /// The lines for a record, each with its newline.
    package mutating func bytes(of record: DeliveryRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        if record.process != process || record.sequence != number + 1 {
            process = record.process
            bytes += RecordingHeader.text(
                process: record.process.id, name: record.process.name, number: UInt64(max(0, record.sequence)),
                monotonicNanoseconds: record.monotonicNanoseconds, wallNanoseconds: record.wallNanoseconds)
        }
        number = record.sequence
        introduce(record.thread, in: record.process, to: &bytes)
        if let target = record.target { introduce(target, in: record.process, to: &bytes) }
        bytes += RecordLine.bytes(
            number: UInt64(max(0, record.sequence)), monotonicNanoseconds: record.monotonicNanoseconds,
            thread: record.thread.number, stage: record.stage.rawValue, name: record.notification,
            post: UInt64(max(0, record.post ?? 0)), observer: UInt64(max(0, record.observer ?? 0)),
            target: record.target?.number ?? 0, message: record.message, location: record.location, count: record.count,
            sender: record.sender, relatedPost: UInt64(max(0, record.relatedPost ?? 0)), overtakes: record.overtakes,
            style: record.style?.rawValue, policy: record.policy?.rawValue, reason: record.reason?.fields.name,
            signal: record.reason?.fields.signal ?? 0, counters: record.counters)
        return bytes
    }

    private mutating func introduce(_ thread: ThreadIdentity, in process: ProcessIdentity, to bytes: inout [UInt8]) {
        let key = Recording.Numbered(process: process.id, number: thread.number)
        guard introduced.updateValue(thread, forKey: key) != thread else { return }
        bytes += RecordingHeader.text(thread)
    }

    /// The last line of a complete recording.
    package mutating func end(after last: DeliveryRecord?) -> [UInt8] {
        guard let last else { return [] }
        return bytes(
            of: DeliveryRecord(
                sequence: last.sequence + 1, monotonicNanoseconds: last.monotonicNanoseconds,
                wallNanoseconds: last.wallNanoseconds, process: last.process, thread: last.thread, stage: .end,
                reason: .stopped))
    }
}
