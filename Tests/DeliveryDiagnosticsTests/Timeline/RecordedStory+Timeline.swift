import DeliveryRecording
import ThreadedNotifications

/// Programs that the tests of timelines draw.
extension RecordedStory {
    /// Adds a record some microseconds after the one before.
    mutating func happens(
        _ stage: DeliveryStage, on thread: ThreadIdentity, after pause: UInt64 = 10, _ name: String? = nil,
        post: Int? = nil, observer: Int? = nil, target: ThreadIdentity? = nil, message: String? = nil,
        count: Int? = nil, relatedPost: Int? = nil, style: Recording.Style? = nil,
        reason: Recording.Reason? = nil
    ) {
        add(
            stage, on: thread, name, post: post, observer: observer, target: target, message: message, count: count,
            relatedPost: relatedPost, style: style, reason: reason, after: .microseconds(pause))
    }

    /// A handler that does not return, nine posts that wait for its thread, and one with a misspelt name.
    static var stalledWorker: RecordedStory {
        var program = RecordedStory()
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
    static var slowHandler: RecordedStory {
        var program = RecordedStory()
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
