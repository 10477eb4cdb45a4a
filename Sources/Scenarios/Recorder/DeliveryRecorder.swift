internal import ChildProcesses
package import DeliveryRecording
package import Foundation
internal import ThreadedNotifications

/// Collects the records of one run.
///
/// Threads: every method may be called on any thread.
/// Order: a record's sequence number and times are taken together, so the monotonic clock never runs backwards from one
/// record to the next.
package final class DeliveryRecorder: Sendable {
    private let stored = Locked<[DeliveryRecord]>([])
    /// Nil if all records are kept.
    private let tally: Locked<FloodTally>?
    private let echo: (@Sendable (DeliveryRecord) -> Void)?

    /// - Parameters:
    ///   - keepsAll: false to keep the log messages only, and a tally of the other records.
    ///   - echo: lets a process print each record before it crashes. Called on the thread that recorded it.
    package init(keepsAll: Bool = true, echo: (@Sendable (DeliveryRecord) -> Void)? = nil) {
        tally = keepsAll ? nil : Locked(FloodTally())
        self.echo = echo
    }

    package var records: [DeliveryRecord] { stored.withLock { $0 } }
    package var run: RecordedRun { RecordedRun(records, tally: tally?.withLock { $0 }) }

    /// Records a stage that happens now, on the calling thread.
    package func record(
        _ stage: DeliveryStage, notification: Notification.Name? = nil, post: Int? = nil, message: String? = nil
    ) {
        if let tally, stage != .log {
            let thread = ThreadIdentity.current
            return tally.withLock { $0.note(stage, post, on: thread) }
        }
        record(process: .current, thread: .current, stage) { record in
            record.notification = notification?.rawValue
            record.post = post
            record.message = message
        }
    }

    func record(_ event: DeliveryEvent) {
        // Every stage of the library is a stage of records.
        record(process: .current, thread: .current, DeliveryStage(rawValue: event.stage.rawValue)!) { record in
            func number(_ number: UInt64) -> Int? { number == 0 ? nil : Int(number) }
            record.notification = event.name?.rawValue
            record.post = number(event.post)
            record.observer = number(event.observer)
            record.target = event.target
            record.message = event.message
            record.location = event.location
            record.count = event.count ?? event.policy?.capacity
            record.sender = event.sender
            record.relatedPost = number(event.relatedPost)
            record.overtakes = event.overtakes
            record.style = event.postingStyle.flatMap { DeliveryRecord.Style(rawValue: $0.name) }
            record.policy = event.policy.flatMap { DeliveryRecord.Policy(rawValue: $0.kind) }
            record.reason = event.reason.flatMap { DeliveryRecord.Reason(name: $0.rawValue, signal: 0) }
        }
    }

    private func record(
        process: ProcessIdentity, thread: ThreadIdentity, _ stage: DeliveryStage,
        with details: (inout DeliveryRecord) -> Void
    ) {
        var record = DeliveryRecord(
            sequence: 0, monotonicNanoseconds: 0, wallNanoseconds: 0, process: process, thread: thread, stage: stage)
        details(&record)
        record = stored.withLock { [record] records in
            var record = record
            record.sequence = records.count + 1
            record.monotonicNanoseconds = DispatchTime.now().uptimeNanoseconds
            record.wallNanoseconds = Int64(Date().timeIntervalSince1970 * 1e9)
            records.append(record)
            return record
        }
        echo?(record)
    }

    package func log(_ message: String) { record(.log, message: message) }

    /// Records the log message that the documents' programs use most.
    package func logCurrentThread() { log("current thread = \(ThreadIdentity.current)") }

    /// Records what the library traces while `body` runs. The library has one tracer for the process, so all deliveries
    /// in the process are recorded.
    ///
    /// - Parameter body: its threads have ended when it returns, else what they do is recorded or not by chance.
    func trace<Value>(during body: () throws -> Value) rethrows -> Value {
        let before = DeliveryEvent.tracer
        DeliveryEvent.tracer = { self.record($0) }
        defer { DeliveryEvent.tracer = before }
        return try body()
    }

    /// Merges the records of another process into these by time, renumbers all, and records the end of that process.
    func merge(
        _ output: String, ofProcess id: Int32, end: ChildProcess.End, message: String? = nil
    ) throws(ScenarioError) {
        let recording: Recording
        do throws(LogError) {
            recording = try Recording(bytes: Array(output.utf8), name: "its output")
        } catch {
            throw .child(problem: "its output is not a recording: \(error)")
        }
        if let problem = recording.problems.first { throw .child(problem: "\(problem)") }
        let others = recording.records.sorted { $0.sequence < $1.sequence }
        stored.withLock { records in
            records = (records + others).sorted { $0.monotonicNanoseconds < $1.monotonicNanoseconds }
            for index in records.indices { records[index].sequence = index + 1 }
        }
        record(
            process: ProcessIdentity(id: id, name: others.first?.process.name ?? "the second process"),
            thread: ThreadIdentity(number: 1, name: "main", kernelID: id), .processEnd
        ) { record in
            switch end {
            case .exit(let status): (record.reason, record.count) = (.exit, Int(status))
            case .signal(let signal): record.reason = .signal(UInt8(clamping: signal))
            case .timedOut: record.reason = .signal(UInt8(SIGKILL))
            }
            record.message = message
        }
    }
}
