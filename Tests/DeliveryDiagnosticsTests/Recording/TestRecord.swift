package import ThreadedNotifications

@testable package import DeliveryRecording

/// A record with all that its line has, to make recordings and to look at them.
package struct TestRecord: Sendable, Hashable {
    package var sequence: Int
    package var time: UInt64
    package var wallTime: Int64
    package var process: ProcessIdentity
    package var thread: ThreadIdentity
    package var isThreadKnown = true
    package var stage: DeliveryStage
    package var name: String?
    package var post: Int?
    package var observer: Int?
    package var target: ThreadIdentity?
    package var message: String?
    package var location: SourceLocation?
    package var count: Int?
    package var sender: Recording.Sender?
    package var relatedPost: Int?
    package var overtakes = false
    package var style: Recording.Style?
    package var policy: Recording.Policy?
    package var reason: Recording.Reason?
    package var foundation: Recording.FoundationDetails?
}

extension Recording {
    /// Without an `end`, the recording is truncated, as in version 2.
    package init(_ records: [TestRecord], source: String = "the run") {
        var builder = RecordingBuilder(source: source)
        for record in records {
            builder.setProcess(record.process, wallOffset: record.wallTime &- Int64(bitPattern: record.time))
            var entry = Entry(time: record.time, stage: record.stage, thread: builder.thread(record.thread))
            entry.isThreadKnown = record.isThreadKnown
            entry.target = record.target.map { builder.thread($0) } ?? -1
            entry.name = record.name.map { builder.string($0) } ?? -1
            entry.post = record.post.map { builder.post($0) } ?? -1
            entry.observer = record.observer.map { builder.observer($0) } ?? -1
            entry.message = record.message.map { builder.string($0) } ?? -1
            entry.location = record.location.map { builder.location($0) } ?? -1
            entry.sender = record.sender.map { builder.sender($0) } ?? -1
            entry.relatedPost = record.relatedPost.map { builder.post($0) } ?? -1
            entry.count = record.count.map { Int32(clamping: $0) } ?? -1
            (entry.overtakes, entry.style) = (record.overtakes, record.style)
            (entry.policy, entry.reason) = (record.policy, record.reason)
            entry.foundation = record.foundation.map { builder.foundationDetails($0) } ?? -1
            entry.line = Int32(clamping: record.sequence)
            builder.append(entry)
        }
        self = builder.finish()
    }

    package var records: [TestRecord] {
        entries.enumerated().map { number, entry in
            TestRecord(
                sequence: number + 1, time: entry.time, wallTime: wallTime(of: entry),
                process: processes[process(of: entry)], thread: threads[Int(entry.thread)].identity,
                isThreadKnown: entry.isThreadKnown, stage: entry.stage, name: name(of: entry),
                post: entry.post < 0 ? nil : posts[Int(entry.post)].number,
                observer: entry.observer < 0 ? nil : observers[Int(entry.observer)].number,
                target: entry.target < 0 ? nil : threads[Int(entry.target)].identity, message: message(of: entry),
                location: location(of: entry), count: entry.count < 0 ? nil : Int(entry.count),
                sender: sender(of: entry),
                relatedPost: entry.relatedPost < 0 ? nil : posts[Int(entry.relatedPost)].number,
                overtakes: entry.overtakes, style: entry.style, policy: entry.policy, reason: entry.reason,
                foundation: foundationDetails(of: entry))
        }
    }
}
