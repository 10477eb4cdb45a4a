package import DeliveryRecording
package import ThreadedNotifications

/// Builds the records of a run for tests, one by one.
///
/// Each record is a millisecond after the one before, unless `after` is another time.
package struct RecordedStory {
    package static let main = ThreadIdentity(number: 1, name: "main", kernelID: 100)
    package static let worker = ThreadIdentity(number: 2, name: "worker", kernelID: 101)
    package static let other = ThreadIdentity(number: 3, name: "other", kernelID: 102)

    package private(set) var records: [TestRecord] = []
    private var time: UInt64 = 1_000_000_000
    package var process = ProcessIdentity(id: 100, name: "program")

    package init() {}

    /// The recording of the records so far.
    package var recording: Recording { recording("run.jsonl") }

    package func recording(_ source: String) -> Recording { Recording(records, source: source) }

    package static func thread(_ number: Int, _ name: String? = nil) -> ThreadIdentity {
        ThreadIdentity(number: number, name: name, kernelID: Int32(99 + number))
    }

    /// Lets a time pass before the next record.
    package mutating func pass(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        time += UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    /// - Parameters:
    ///   - name: the name of the notification, for a stage that can have one. A block has none.
    ///   - location: the line of the source location.
    package mutating func add(
        _ stage: DeliveryStage, on thread: ThreadIdentity = main, _ name: String? = "Done", post: Int? = nil,
        observer: Int? = nil, target: ThreadIdentity? = nil, message: String? = nil, at location: Int? = nil,
        count: Int? = nil, sender: Recording.Sender? = nil, relatedPost: Int? = nil, overtakes: Bool = false,
        style: Recording.Style? = nil, policy: Recording.Policy? = nil,
        reason: Recording.Reason? = nil, foundation: Recording.FoundationDetails? = nil,
        after: Duration = .milliseconds(1)
    ) {
        pass(after)
        records.append(
            TestRecord(
                sequence: records.count + 1, time: time, wallTime: Int64(time), process: process,
                thread: thread, stage: stage, name: Self.nameless.contains(stage) ? nil : name, post: post,
                observer: observer,
                target: target, message: message, location: location.map { SourceLocation("Demo/main.swift", $0) },
                count: count,
                sender: sender, relatedPost: relatedPost, overtakes: overtakes, style: style, policy: policy,
                reason: reason, foundation: foundation))
    }

    /// Adds the registration of an observer.
    package mutating func register(
        _ observer: Int, _ name: String? = "Done", on target: ThreadIdentity? = worker,
        sender: Recording.Sender? = nil
    ) {
        add(.register, name, observer: observer, target: target, at: observer, sender: sender)
    }

    /// Adds a post of one thread and its handlers on another.
    package mutating func deliver(
        _ post: Int, to observers: [Int], on target: ThreadIdentity = worker, from thread: ThreadIdentity = main,
        _ name: String = "Done"
    ) {
        hand(post, to: observers, on: target, from: thread, name)
        for observer in observers { handle(post, by: observer, on: target, name) }
    }

    /// Adds a post that is handed to another thread, and not handled.
    package mutating func hand(
        _ post: Int, to observers: [Int], on target: ThreadIdentity = worker, from thread: ThreadIdentity = main,
        _ name: String = "Done"
    ) {
        add(.post, on: thread, name, post: post, at: 1000 + post, count: observers.count)
        for observer in observers { add(.append, on: thread, name, post: post, observer: observer, target: target) }
    }

    /// Adds a handler, or a block if there is no observer: its call and its return.
    package mutating func handle(
        _ post: Int, by observer: Int?, on target: ThreadIdentity = worker, _ name: String = "Done",
        for duration: Duration = .zero
    ) {
        let name = observer == nil ? nil : name
        add(.deliver, on: target, name, post: post, observer: observer, target: target)
        pass(duration)
        add(.return, on: target, name, post: post, observer: observer)
    }

    package mutating func end(_ reason: Recording.Reason = .exit) { add(.end, nil, reason: reason) }

    /// The recording of a run that ends with `end`.
    package static func complete(_ happen: (inout RecordedStory) -> Void) -> Recording {
        var story = RecordedStory()
        happen(&story)
        story.end()
        return story.recording
    }

    /// The recording of a run without `end`, of which no record is missing.
    package static func endedWithoutNotice(_ happen: (inout RecordedStory) -> Void) -> Recording {
        var story = RecordedStory()
        happen(&story)
        var recording = story.recording
        recording.completeness = recording.completeness.map { _ in .endedWithoutNotice }
        return recording
    }

    /// The stages without the name of a notification.
    private static let nameless: Set<DeliveryStage> = [
        .signal, .dropSignal, .drain, .wait, .waitEnd, .refuseWait, .threadEnd, .log, .processStart, .processEnd, .fork,
        .lost, .end,
    ]
}
