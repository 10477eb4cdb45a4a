import DeliveryRecording
import ThreadedNotifications

@testable import DeliveryDiagnostics

/// Records made by hand, a line each: a millisecond apart, unless said otherwise.
struct RecordedStory {
    static let main = ThreadIdentity(number: 1, name: "main", kernelID: 100)
    static let worker = ThreadIdentity(number: 2, name: "worker", kernelID: 101)
    static let other = ThreadIdentity(number: 3, name: "other", kernelID: 102)

    private(set) var records: [DeliveryRecord] = []
    private var time: UInt64 = 1_000_000_000
    var process = ProcessIdentity(id: 100, name: "program")

    /// What comes next happens so much later.
    mutating func pass(_ duration: Duration) { time += duration.nanoseconds }

    mutating func add(
        _ stage: DeliveryStage, on thread: ThreadIdentity = main, _ name: String? = "Done", post: Int? = nil,
        observer: Int? = nil, target: ThreadIdentity? = nil, message: String? = nil, at place: Int? = nil,
        count: Int? = nil, sender: DeliveryRecord.Sender? = nil, relatedPost: Int? = nil, overtakes: Bool = false,
        policy: DeliveryRecord.Policy? = nil, reason: DeliveryRecord.Reason? = nil, counters: DeliveryCounters? = nil
    ) {
        time += 1_000_000
        records.append(
            DeliveryRecord(
                sequence: records.count + 1, monotonicNanoseconds: time, wallNanoseconds: Int64(time), process: process,
                thread: thread, stage: stage, notification: name, post: post, observer: observer, target: target,
                message: message, place: place.map { SourceLocation("Demo/main.swift", $0) }, count: count,
                sender: sender, relatedPost: relatedPost, overtakes: overtakes, policy: policy, reason: reason,
                counters: counters))
    }

    /// An observer is added.
    mutating func register(
        _ observer: Int, _ name: String? = "Done", on target: ThreadIdentity? = worker,
        sender: DeliveryRecord.Sender? = nil
    ) {
        add(.register, name, observer: observer, target: target, at: observer, sender: sender)
    }

    /// A post on one thread that is handled on another.
    mutating func deliver(
        _ post: Int, to observers: [Int], on target: ThreadIdentity = worker, from thread: ThreadIdentity = main,
        _ name: String = "Done"
    ) {
        hand(post, to: observers, on: target, from: thread, name)
        for observer in observers { handle(post, by: observer, on: target, name) }
    }

    /// A post, up to the mailbox.
    mutating func hand(
        _ post: Int, to observers: [Int], on target: ThreadIdentity = worker, from thread: ThreadIdentity = main,
        _ name: String = "Done"
    ) {
        add(.post, on: thread, name, post: post, at: 1000 + post, count: observers.count)
        for observer in observers { add(.append, on: thread, name, post: post, observer: observer, target: target) }
    }

    /// From the mailbox on.
    mutating func handle(
        _ post: Int, by observer: Int, on target: ThreadIdentity = worker, _ name: String = "Done",
        for duration: Duration = .zero
    ) {
        add(.deliver, on: target, name, post: post, observer: observer, target: target)
        pass(duration)
        add(.return, on: target, name, post: post, observer: observer)
    }

    mutating func end(_ reason: DeliveryRecord.Reason = .exit) { add(.end, nil, reason: reason) }

    /// What happens, and the end of the recording.
    static func complete(_ happen: (inout RecordedStory) -> Void) -> Recording {
        var story = RecordedStory()
        happen(&story)
        story.end()
        return Recording(story.records, source: "run.jsonl")
    }

    /// The same, of which the end is missing.
    static func truncated(_ happen: (inout RecordedStory) -> Void) -> Recording {
        var story = RecordedStory()
        happen(&story)
        return Recording(story.records, source: "run.jsonl")
    }
}
