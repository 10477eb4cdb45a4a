import DeliveryRecording
import ThreadedNotifications

@testable import DeliveryDiagnostics

/// Records for tests, with times in nanoseconds. `main` and `worker` are threads 1 and 2.
struct HandMadeRecords {
    private(set) var records: [TestRecord] = []

    static let main = ThreadIdentity(number: 1, name: "main", kernelID: 100)
    static let worker = ThreadIdentity(number: 2, name: "worker", kernelID: 101)

    mutating func add(
        _ time: UInt64, _ thread: ThreadIdentity, _ stage: DeliveryStage, _ name: String? = "N", post: Int? = nil,
        observer: Int? = nil, target: ThreadIdentity? = nil, message: String? = nil, location: SourceLocation? = nil,
        count: Int? = nil, relatedPost: Int? = nil, process: Int32 = 100
    ) {
        records.append(
            TestRecord(
                sequence: records.count + 1, time: time,
                wallTime: Int64(truncatingIfNeeded: time),
                process: ProcessIdentity(id: process, name: "test"), thread: thread, stage: stage, name: name,
                post: post, observer: observer, target: target, message: message, location: location, count: count,
                relatedPost: relatedPost))
    }
}
