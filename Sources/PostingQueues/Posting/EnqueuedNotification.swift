internal import Foundation
internal import Synchronization
internal import ThreadedNotifications

/// A notification that was enqueued to a posting queue, with all that is needed to post it after the queue was
/// released.
//
// Safety: the outcome is atomic, everything else is set once, and everything but the notification is Sendable. The
// notification is handed from the enqueuing thread to the posting thread through a lock. Its object and userInfo must
// be safe to use on both; the documentation of `PostingQueue` demands that.
final class EnqueuedNotification: @unchecked Sendable {
    enum Outcome: UInt8, Sendable {
        case posted = 1
        case coalesced
        case dequeued
        case targetGone
    }

    let notification: Notification
    /// Identifies the post in events; 0 if events were not traced.
    let number: UInt64
    private let center: any PostingCenter
    let counters: PostingCounters
    let location: SourceLocation
    private let resolved = Atomic<UInt8>(0)

    init(_ notification: Notification, center: any PostingCenter, counters: PostingCounters, location: SourceLocation) {
        self.notification = notification
        self.center = center
        self.counters = counters
        self.location = location
        number = DeliveryEvent.nextPost()
        counters.countEnqueued()
    }

    /// Nil while the notification waits.
    var outcome: Outcome? { Outcome(rawValue: resolved.load(ordering: .acquiring)) }

    /// Sets, counts and traces the outcome, once. No lock may be held, because tracing calls foreign code.
    /// - Parameters:
    ///   - other: the post that is kept instead, if the notification is coalesced.
    ///   - reason: the reason, if it lost its target.
    func resolve(_ outcome: Outcome, keeping other: UInt64 = 0, reason: DeliveryEvent.Reason? = nil) {
        resolved.store(outcome.rawValue, ordering: .releasing)
        counters.count(outcome)
        switch outcome {
        case .posted: break
        case .coalesced:
            DeliveryEvent.trace(.coalesce, name: notification.name, post: number, relatedPost: other)
        case .dequeued: DeliveryEvent.trace(.dequeue, name: notification.name, post: number)
        case .targetGone:
            DeliveryEvent.trace(.targetGone, name: notification.name, post: number, reason: reason)
        }
    }

    /// Posts the notification to its center. Called on the queue's thread.
    func post() {
        resolve(.posted)
        // Tracing may have begun after the notification was enqueued.
        let number = number == 0 ? DeliveryEvent.nextPost() : number
        let queued = QueuedNotification(notification: notification, number: number, location: location)
        if center is ThreadedNotificationCenter { return center.post(queued) }
        Recorder.posting(notification, number: number, at: location) { center.post(queued) }
    }
}
