internal import Foundation
internal import ThreadedNotifications

/// A notification that was enqueued to a posting queue, with all that is needed to post it after the queue was
/// released.
//
// Safety: `counters` has a lock for the outcome, everything else is set once and, but for the notification, Sendable.
// The notification is handed from the enqueuing thread to the posting thread through a lock. Its object and userInfo
// must be safe to use on both; the documentation of `PostingQueue` demands that.
final class EnqueuedNotification: @unchecked Sendable {
    let notification: Notification
    /// Identifies the post in events; 0 if events were not traced.
    let number: UInt64
    let counters: PostingCounters
    let location: SourceLocation
    private let center: any PostingCenter
    /// Behind the lock of `counters`.
    private var resolved = DeliveryOutcome.waiting

    init(_ notification: Notification, center: any PostingCenter, counters: PostingCounters, location: SourceLocation) {
        self.notification = notification
        self.center = center
        self.counters = counters
        self.location = location
        number = DeliveryEvent.nextPost()
        counters.count { $0.waiting += 1 }
    }

    var outcome: DeliveryOutcome { counters.count { _ in resolved } }

    /// Sets, counts and traces the outcome, once. No lock may be held, because tracing calls foreign code.
    /// - Parameters:
    ///   - other: the post that is kept instead, if the notification is coalesced.
    ///   - reason: the reason, if it lost its target.
    func resolve(_ outcome: DeliveryOutcome, keeping other: UInt64 = 0, reason: DeliveryEvent.Reason? = nil) {
        counters.count { counters in
            resolved = outcome
            counters.waiting -= 1
            switch outcome {
            case .delivered: counters.delivered += 1
            case .coalesced: counters.coalesced += 1
            case .cancelled: counters.cancelled += 1
            default: counters.targetGone += 1
            }
        }
        guard number != 0 || DeliveryEvent.isWatched else { return }
        let stage: DeliveryEvent.Stage? =
            switch outcome {
            case .coalesced: .coalesce
            case .cancelled: .dequeue
            case .targetGone: .targetGone
            default: nil
            }
        if let stage {
            DeliveryEvent.trace(
                stage, name: notification.name, post: number, relatedPost: other, reason: reason)
        }
    }

    /// Posts the notification to its center. Called on the queue's thread.
    func post() {
        resolve(.delivered)
        // Tracing may have begun after the notification was enqueued.
        let number = number == 0 ? DeliveryEvent.nextPost() : number
        let queued = QueuedNotification(notification: notification, number: number, location: location)
        if center is ThreadedNotificationCenter { return center.post(queued) }
        Recorder.posting(notification, number: number, at: location) { center.post(queued) }
    }
}
