internal import DeliveryRecording
internal import Foundation
internal import ThreadedNotifications

/// Records what the library traces while something happens.
enum DeliveryTracer {
    /// The library has one tracer for the process, so everything that is delivered in the process meanwhile is recorded.
    ///
    /// - Parameters:
    ///   - watch: called for each event after it was recorded, on the thread on which it happens.
    ///   - body: what happens. Its threads have ended when it returns, else what they do is recorded or not by chance.
    static func record<Result>(
        into recorder: DeliveryRecorder, watching watch: @escaping @Sendable (DeliveryEvent) -> Void = { _ in },
        during body: () throws -> Result
    ) rethrows -> Result {
        let before = DeliveryEvent.tracer
        DeliveryEvent.tracer = { event in
            recorder.record(event)
            watch(event)
        }
        defer { DeliveryEvent.tracer = before }
        return try body()
    }
}

extension DeliveryRecorder {
    /// Records an event as happening now, which is when it is traced.
    func record(_ event: DeliveryEvent) {
        record(
            DeliveryStage(event.stage), notification: event.name?.rawValue, post: Self.number(event.post),
            observer: Self.number(event.observer), target: event.target, message: event.recordedMessage,
            place: event.location, count: event.count,
            sender: event.sender,
            relatedPost: Self.number(event.relatedPost))
    }

    /// Records what the library has counted for an observer by now.
    func recordCounts(of token: ObserverToken) {
        record(.count, observer: Self.number(token.id), message: ObserverCounts(token.counters).description)
    }

    /// Records what the library has counted for a posting queue by now.
    func recordCounts(of queue: PostingQueue) {
        record(.count, message: queue.counters.queueMessage)
    }

    /// Nil for the 0 that events have where there is none.
    private static func number(_ number: UInt64) -> Int? {
        number == 0 ? nil : Int(number)
    }
}

extension DeliveryStage {
    init(_ stage: DeliveryEvent.Stage) {
        self =
            switch stage {
            case .register: .register
            case .remove: .remove
            case .enqueue: .enqueue
            case .dequeue: .dequeue
            case .post: .post
            case .capture: .capture
            case .append: .append
            case .signal: .signal
            case .drain: .drain
            case .deliver: .deliver
            case .return: .return
            case .coalesce: .coalesce
            case .drop: .drop
            case .cancel: .cancel
            case .targetGone: .targetGone
            case .skip: .skip
            case .wait: .wait
            case .waitEnd: .waitEnd
            case .refuseWait: .refuseWait
            case .threadEnd: .threadEnd
            }
    }
}

extension DeliveryCounters {
    /// The message of a posting queue's counter record.
    var queueMessage: String {
        let parts = [
            ("posted", delivered), ("coalesced", coalesced), ("dequeued", cancelled), ("target gone", targetGone),
            ("waiting", waiting),
        ].filter { $0.1 != 0 }.map { "\($0.0) \($0.1)" }
        let sum = "enqueued \(total)"
        return parts.isEmpty ? sum : "\(sum): " + parts.joined(separator: ", ")
    }
}
