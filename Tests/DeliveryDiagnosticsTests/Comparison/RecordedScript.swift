import DeliveryRecording
import ThreadedNotifications

@testable import DeliveryDiagnostics

/// Records for tests.
struct RecordedScript {
    private(set) var records: [DeliveryRecord] = []
    var process = ProcessIdentity(id: 7, name: "test")
    /// The name of notifications.
    var name = "Name"

    static let main = ThreadIdentity(number: 1, name: "main", kernelID: 7)

    static func thread(_ number: Int, _ name: String? = nil) -> ThreadIdentity {
        ThreadIdentity(number: number, name: name, kernelID: Int32(number + 100))
    }

    mutating func record(
        _ stage: DeliveryStage, on thread: ThreadIdentity = Self.main, post: Int? = nil, observer: Int? = nil,
        target: ThreadIdentity? = nil, message: String? = nil, place: SourceLocation? = nil, count: Int? = nil,
        sender: DeliveryRecord.Sender? = nil, style: DeliveryRecord.Style? = nil,
        policy: DeliveryRecord.Policy? = nil, reason: DeliveryRecord.Reason? = nil, counters: DeliveryCounters? = nil
    ) {
        let hasName = observer != nil || [.post, .enqueue, .coalesce].contains(stage)
        records.append(
            DeliveryRecord(
                sequence: records.count + 1, monotonicNanoseconds: UInt64(records.count) * 1000, wallNanoseconds: 0,
                process: process, thread: thread, stage: stage, notification: hasName ? name : nil, post: post,
                observer: observer, target: target, message: message, place: place, count: count, sender: sender,
                style: style, policy: policy, reason: reason, counters: counters))
    }

    /// Adds a post, its append, its delivery and its return.
    mutating func post(_ post: Int, from poster: ThreadIdentity, to target: ThreadIdentity, observer: Int = 1) {
        record(.post, on: poster, post: post, count: 1)
        record(.append, on: poster, post: post, observer: observer, target: target)
        deliver(post, observer: observer, on: target)
    }

    mutating func deliver(_ post: Int, observer: Int? = 1, on thread: ThreadIdentity) {
        record(.deliver, on: thread, post: post, observer: observer)
        record(.return, on: thread, post: post, observer: observer)
    }

    func recording(_ source: String) -> Recording { Recording(records, source: source) }
}
