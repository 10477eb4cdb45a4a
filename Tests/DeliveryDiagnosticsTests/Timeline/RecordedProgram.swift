import DeliveryDiagnostics
import DeliveryRecording
import ThreadedNotifications

/// Records for tests. Each record is a number of microseconds after the previous one.
struct RecordedProgram {
    private(set) var records: [DeliveryRecord] = []
    private var microseconds: UInt64 = 0

    static let main = ThreadIdentity(number: 1, name: "main", kernelID: 100)
    static let worker = ThreadIdentity(number: 2, name: "worker", kernelID: 101)

    static func thread(_ number: Int, _ name: String? = nil) -> ThreadIdentity {
        ThreadIdentity(number: number, name: name, kernelID: Int32(99 + number))
    }

    var recording: Recording { Recording(records, source: "run.jsonl") }

    mutating func happens(
        _ stage: DeliveryStage, on thread: ThreadIdentity, after pause: UInt64 = 10, _ name: String? = nil,
        post: Int? = nil, observer: Int? = nil, target: ThreadIdentity? = nil, message: String? = nil,
        count: Int? = nil, relatedPost: Int? = nil, style: DeliveryRecord.Style? = nil,
        reason: DeliveryRecord.Reason? = nil
    ) {
        microseconds += records.isEmpty ? 0 : pause
        records.append(
            DeliveryRecord(
                sequence: records.count + 1, monotonicNanoseconds: 1_000_000 + microseconds * 1000, wallNanoseconds: 0,
                process: ProcessIdentity(id: 100, name: "program"), thread: thread, stage: stage, notification: name,
                post: post, observer: observer, target: target, message: message, count: count,
                relatedPost: relatedPost, style: style, reason: reason))
    }

    /// A handler that does not return, nine posts that wait for its thread, and one with a misspelt name.
    static var stalledWorker: RecordedProgram {
        var program = RecordedProgram()
        program.happens(.post, on: main, "TemperatureDidChange", post: 1, count: 1)
        program.happens(.append, on: main, "TemperatureDidChange", post: 1, observer: 1, target: worker)
        program.happens(.deliver, on: worker, "TemperatureDidChange", post: 1, observer: 1, target: worker)
        program.happens(.post, on: main, "AlarmDidRung", post: 2, count: 0)
        for post in 3...11 {
            program.happens(.post, on: main, after: 100_000, "TemperatureDidChange", post: post, count: 1)
            program.happens(.append, on: main, "TemperatureDidChange", post: post, observer: 1, target: worker)
        }
        program.happens(.end, on: main, after: 100_000, reason: .exit)
        return program
    }

    /// Two threads, a few posts, and one slow handler.
    static var slowHandler: RecordedProgram {
        var program = RecordedProgram()
        program.happens(.register, on: main, "PriceDidChange", observer: 1, target: worker)
        program.happens(.post, on: main, after: 90, "PriceDidChange", post: 1, count: 1)
        program.happens(.append, on: main, after: 2, "PriceDidChange", post: 1, observer: 1, target: worker)
        program.happens(.signal, on: main, after: 1, target: worker)
        program.happens(.drain, on: worker, after: 30)
        program.happens(.deliver, on: worker, after: 8, "PriceDidChange", post: 1, observer: 1, target: worker)
        program.happens(.post, on: main, after: 100, "PriceDidChange", post: 2, count: 1)
        program.happens(.append, on: main, after: 2, "PriceDidChange", post: 2, observer: 1, target: worker)
        program.happens(.post, on: main, after: 100, "PriceDidChange", post: 3, count: 1)
        program.happens(.append, on: main, after: 2, "PriceDidChange", post: 3, observer: 1, target: worker)
        program.happens(.log, on: worker, after: 20_000, message: "recomputed 4000 rows")
        program.happens(.return, on: worker, after: 5, "PriceDidChange", post: 1, observer: 1, target: worker)
        program.happens(.deliver, on: worker, after: 4, "PriceDidChange", post: 2, observer: 1, target: worker)
        program.happens(.post, on: worker, after: 5, "TotalDidChange", post: 4, count: 1)
        program.happens(.deliver, on: worker, after: 1, "TotalDidChange", post: 4, observer: 2)
        program.happens(.return, on: worker, after: 7, "TotalDidChange", post: 4, observer: 2)
        program.happens(.return, on: worker, after: 7, "PriceDidChange", post: 2, observer: 1, target: worker)
        program.happens(.drop, on: main, after: 10, "PriceDidChange", post: 3, observer: 1, target: worker)
        program.happens(.end, on: main, after: 50, reason: .exit)
        return program
    }
}
