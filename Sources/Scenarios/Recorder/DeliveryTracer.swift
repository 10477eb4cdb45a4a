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
    /// Records what the library has counted for an observer by now.
    func recordCounts(of token: ObserverToken) {
        record(.count, observer: Int(token.id), counters: token.counters)
    }

    /// Records what the library has counted for a posting queue by now.
    func recordCounts(of queue: PostingQueue) {
        record(.count, counters: queue.counters)
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
