internal import CDeliveryRecorder
internal import CRecorderInterface
internal import ThreadedNotifications

/// Formats records as the lines of a file.
///
/// The records must come from one run, in order. Header and thread lines precede the first record that needs them.
package struct RecordLines {
    private var process: ProcessIdentity?
    private var number = 0
    private var introduced: [Recording.Numbered: ThreadIdentity] = [:]

    /// The processes whose records are incomplete. Their header has version 2, in which a missing end is reported.
    private let truncated: Set<ProcessIdentity>
    private let poolThreads: Set<Recording.Numbered>

    /// - Parameter recording: the recording that the records are from; nil for new ones.
    package init(of recording: Recording? = nil) {
        let processes = recording?.processes ?? []
        truncated = Set(zip(processes, recording?.completeness ?? []).filter { !$0.1.isComplete }.map(\.0))
        poolThreads = Set(
            (recording?.threads ?? []).filter(\.isInPool).map {
                Recording.Numbered(process: processes[Int($0.process)].id, number: $0.identity.number)
            })
    }

    /// The lines for a record, each with its newline.
    package mutating func bytes(of record: DeliveryRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        if record.process != process || record.sequence != number + 1 {
            process = record.process
            var header = Self.header([record.process.name]) { line, texts in
                recorder_write_header(
                    line, record.process.id, texts.text(record.process.name), UInt64(max(0, record.sequence)),
                    record.monotonicNanoseconds, UInt64(max(0, record.wallNanoseconds)))
            }
            if truncated.contains(record.process) { header[Self.offsetOfVersion] = UInt8(ascii: "2") }
            bytes += header
        }
        number = record.sequence
        introduce(record.thread, in: record.process, to: &bytes)
        if let target = record.target { introduce(target, in: record.process, to: &bytes) }
        return bytes + Self.line(of: record)
    }

    private mutating func introduce(_ thread: ThreadIdentity, in process: ProcessIdentity, to bytes: inout [UInt8]) {
        let key = Recording.Numbered(process: process.id, number: thread.number)
        guard introduced.updateValue(thread, forKey: key) != thread else { return }
        bytes += Self.header([thread.name]) { [poolThreads] line, texts in
            var thread = texts.thread(thread)
            thread.pool = poolThreads.contains(key)
            return recorder_write_thread(line, &thread)
        }
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

    /// A process's last record, without its thread.
    static func end(number: Int, nanoseconds: UInt64, _ reason: DeliveryRecord.Reason) -> [UInt8] {
        var end = DeliveryRecord(
            sequence: number, monotonicNanoseconds: nanoseconds, wallNanoseconds: 0,
            process: ProcessIdentity(id: 0, name: ""), thread: ThreadIdentity(number: 1, name: nil, kernelID: 0),
            stage: .end, reason: reason)
        end.isThreadKnown = false
        return line(of: end)
    }

    // MARK: Lines

    private static let offsetOfVersion = "{\"recording\":".utf8.count

    /// Composes a header or the line of a thread with these strings.
    private static func header(
        _ strings: [String?], _ write: (UnsafeMutablePointer<CChar>, inout RecorderTexts) -> Int
    ) -> [UInt8] {
        withTexts(strings) { texts in
            line(capacity: Int(RECORDER_MAXIMUM_HEADER)) { write($0, &texts) }
        }
    }

    private static func line(of record: DeliveryRecord) -> [UInt8] {
        let counters = record.counters.map(json)
        let strings = [
            record.stage.rawValue, record.notification, record.message, record.location?.file, record.sender?.type,
            counters, record.thread.name, record.target?.name, record.foundation?.queue,
        ]
        return withTexts(strings) { texts in
            var fields = recorder_record()
            fields.stage = texts.text(record.stage.rawValue)
            if record.isThreadKnown { fields.thread = texts.thread(record.thread) }
            if let target = record.target { fields.target = texts.thread(target) }
            fields.name = texts.text(record.notification)
            fields.post = UInt64(max(0, record.post ?? 0))
            fields.observer = UInt64(max(0, record.observer ?? 0))
            fields.message = texts.text(record.message)
            fields.file = texts.text(record.location?.file)
            fields.line = UInt64(max(0, record.location?.line ?? 0))
            if let count = record.count { (fields.has_count, fields.count) = (true, UInt64(max(0, count))) }
            if let sender = record.sender {
                (fields.has_sender, fields.sender) = (true, sender.identifier)
                fields.type = texts.text(sender.type)
            }
            fields.by = UInt64(max(0, record.relatedPost ?? 0))
            fields.overtakes = record.overtakes
            fields.style = texts.text(record.style?.rawValue)
            fields.policy = texts.text(record.policy?.rawValue)
            fields.reason = texts.text(record.reason?.fields.name)
            fields.signal = UInt64(max(0, record.reason?.fields.signal ?? 0))
            fields.counters = texts.text(counters)
            if let foundation = record.foundation {
                fields.foundation = true
                fields.center = foundation.center.flatMap { UInt64($0, radix: 16) } ?? 0
                fields.queue = texts.text(foundation.queue)
            }
            return line(capacity: recorder_maximum_length(&fields)) {
                recorder_write_record($0, UInt64(max(0, record.sequence)), record.monotonicNanoseconds, &fields)
            }
        }
    }

    private static func withTexts(_ strings: [String?], _ body: (inout RecorderTexts) -> [UInt8]) -> [UInt8] {
        let length = strings.reduce(RecorderTexts.constantLength) { $0 + RecorderTexts.length($1) }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: length) { memory in
            guard let start = memory.baseAddress else { return [] }
            var texts = RecorderTexts(start)
            return body(&texts)
        }
    }

    private static func line(capacity: Int, _ write: (UnsafeMutablePointer<CChar>) -> Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: capacity) { memory, count in
            count = memory.withMemoryRebound(to: CChar.self) { $0.baseAddress.map(write) ?? 0 }
        }
    }

    /// The counters that are not 0, as a JSON object.
    private static func json(_ counters: DeliveryCounters) -> String {
        let members = DeliveryOutcome.allCases.filter { counters[$0] > 0 }.map { "\"\($0.rawValue)\":\(counters[$0])" }
        return "{\(members.joined(separator: ","))}"
    }
}
