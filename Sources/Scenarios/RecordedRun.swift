package import DeliveryRecording
package import Foundation
internal import ThreadedNotifications

/// The recording of a scenario's run, and the expectations that scenarios share.
package final class RecordedRun {
    /// A record of the run.
    @dynamicMemberLookup
    struct Record {
        /// An index in `recording.entries`.
        let number: Int32
        let entry: Recording.Entry
        let run: RecordedRun

        subscript<Value>(dynamicMember path: KeyPath<Recording.Entry, Value>) -> Value { entry[keyPath: path] }

        var name: String? { run.recording.name(of: entry) }
        var message: String? { run.recording.message(of: entry) }
        var process: ProcessIdentity { run.recording.processes[run.recording.process(of: entry)] }
        var isOnMain: Bool { run.index.isMain(entry.thread) }
        var threadName: String? { run.recording.threads[Int(entry.thread)].identity.name }
        var place: String { "\(run.recording.threads[Int(entry.thread)].identity)" }
    }

    /// The delivery of a post that was recorded.
    struct Delivery {
        let posted: Record
        let delivered: Record
    }

    package let index: RecordingIndex
    /// The lines of the recording.
    package let file: FileHandle?

    package var recording: Recording { index.recording }

    package init(_ recording: Recording) { (index, file) = (RecordingIndex(recording), nil) }

    init(_ file: FileHandle) throws {
        self.file = file
        var recording = try Recording(path: "/proc/self/fd/\(file.fileDescriptor)")
        recording.source = "the run"
        index = RecordingIndex(recording)
    }

    // MARK: Records

    func record(_ number: Int32) -> Record { Record(number: number, entry: index.entry(number), run: self) }

    /// The records whose entries satisfy a condition.
    func all(where isIncluded: (Recording.Entry) -> Bool) -> [Record] {
        recording.entries.indices.filter { isIncluded(recording.entries[$0]) }.map { record(Int32($0)) }
    }

    /// - Parameter notification: nil means any.
    func all(_ stage: DeliveryStage, _ notification: String? = nil) -> [Record] {
        all { $0.stage == stage && (notification == nil || self.recording.name(of: $0) == notification) }
    }

    func count(_ stage: DeliveryStage) -> Int { recording.entries.count { $0.stage == stage } }

    func first(_ stage: DeliveryStage, _ notification: String? = nil) -> Record? { all(stage, notification).first }

    /// The records with a message that begins with this text.
    func all(beginning text: String) -> [Record] {
        all { self.recording.message(of: $0)?.hasPrefix(text) ?? false }
    }

    func all(_ message: String) -> [Record] { all(beginning: message).filter { $0.message == message } }

    func first(_ message: String) -> Record? { all(message).first }

    /// The deliveries of posts, in order.
    var delivered: some Sequence<Delivery> {
        index.spans.lazy.filter { !$0.isWait }.compactMap { [index] span -> Delivery? in
            let post = index.entry(span.begin).post
            guard post >= 0, index.posts[Int(post)].posted >= 0 else { return nil }
            return Delivery(posted: self.record(index.posts[Int(post)].posted), delivered: self.record(span.begin))
        }
    }

    // MARK: Expectations

    /// Expects that all of these records exist, in this order.
    func expectOrder(_ claim: String, _ events: Record?..., and condition: Bool = true) -> Expectation {
        let numbers = events.compactMap { $0?.number }
        let isInOrder = numbers.count == events.count && zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }
        let texts = events.map { event in
            event.map { "\($0.number + 1) \($0.stage) \($0.message ?? $0.name ?? "")" } ?? "none"
        }
        return Expectation(
            claim, holds: isInOrder && condition, otherwise: "the records are \(texts.joined(separator: ", "))")
    }

    /// Expects that every post was delivered once to each observer, and that each delivery is correct.
    func expectEachDelivered(_ claim: String, where isCorrect: (Delivery) -> Bool = { _ in true }) -> Expectation {
        let accounts = Accounts(index)
        let sum = accounts.sum(.notifications)
        let failure: String? =
            if sum[.matched] == 0 {
                "nothing was posted"
            } else if sum[.delivered] != sum[.matched] || !accounts.mismatched.isEmpty {
                "of \(sum[.matched]) deliveries, \(sum.words())"
            } else if index.deliveries.contains(where: { $0.secondOutcome >= 0 }) {
                "a post was delivered twice to an observer"
            } else if let wrong = delivered.first(where: { !isCorrect($0) }) {
                "\(number(wrong)), posted on \(wrong.posted.place), was handled on \(wrong.delivered.place)"
            } else {
                nil
            }
        return Expectation(claim, failure: failure)
    }

    /// Expects that the posts of one thread were delivered to each observer in the order of posting.
    func expectOrderKept(_ claim: String) -> Expectation {
        expectAscending(claim, by: { [$0.posted.thread, $0.delivered.observer] }, number: \.posted.number)
    }

    /// Expects that the observers that handle a post on the same thread were called in the order of their registration.
    func expectRegistrationOrder(_ claim: String) -> Expectation {
        func registered(_ observer: Int32) -> Int32 { observer < 0 ? -1 : index.observers[Int(observer)].registered }
        return expectAscending(
            claim, by: { [$0.delivered.post, $0.delivered.thread] }, number: { registered($0.delivered.observer) })
    }

    private func expectAscending(
        _ claim: String, by key: (Delivery) -> SIMD2<Int32>, number: (Delivery) -> Int32
    ) -> Expectation {
        var last: [SIMD2<Int32>: Int32] = [:]
        for delivery in delivered {
            let number = number(delivery)
            if let before = last.updateValue(number, forKey: key(delivery)), before > number {
                return Expectation(claim, failure: "\(self.number(delivery)) was handled too late")
            }
        }
        return Expectation(claim, failure: last.isEmpty ? "nothing was delivered" : nil)
    }

    private func number(_ delivery: Delivery) -> String {
        "post \(recording.posts[Int(delivery.delivered.post)].number)"
    }
}

extension Sequence<RecordedRun.Record> {
    var earliest: RecordedRun.Record? { self.min { $0.number < $1.number } }
    var latest: RecordedRun.Record? { self.max { $0.number < $1.number } }
}
