internal import Foundation
internal import Synchronization

/// A notification that waits in a posting queue, with what it needs to be posted if nobody holds the queue any more.
//
// Safety: all but two are set once. `senderNumber` is touched with the lock of the queue's thread held; `fate` is atomic. The
// notification is handed from the thread that enqueues to the one that posts through that lock; its object and userInfo are
// shared with whoever enqueued it, as with any notification queue on any platform.
final class EnqueuedNotification: @unchecked Sendable {
    /// What becomes of it, once.
    enum Fate: UInt8, Sendable {
        case posted = 1
        case coalesced
        case dequeued
        case targetGone
    }

    let notification: Notification
    let center: any PostingCenter
    /// Of the post, in events; 0 if nobody traces.
    let number: UInt64
    let ledger: PostingLedger
    let place: SourceLocation
    /// Its sender's in the table of senders, if that is a value.
    var senderNumber: UInt64?
    private let fateMet = Atomic<UInt8>(0)

    init(_ notification: Notification, center: any PostingCenter, ledger: PostingLedger, place: SourceLocation) {
        self.notification = notification
        self.center = center
        self.ledger = ledger
        self.place = place
        number = DeliveryEvent.nextPost()
        ledger.countEnqueued()
    }

    /// Nil while it waits.
    var fate: Fate? { Fate(rawValue: fateMet.load(ordering: .acquiring)) }

    /// Counts and traces what becomes of it. With no lock held, for a tracer is foreign.
    /// - Parameter other: the post that stands for it, if it is coalesced.
    func meet(_ fate: Fate, for other: UInt64 = 0) {
        fateMet.store(fate.rawValue, ordering: .releasing)
        ledger.count(fate)
        switch fate {
        case .posted: break
        case .coalesced:
            DeliveryEvent.trace(.coalesce, name: notification.name, post: number, relatedPost: other)
        case .dequeued: DeliveryEvent.trace(.dequeue, name: notification.name, post: number)
        case .targetGone: DeliveryEvent.trace(.targetGone, name: notification.name, post: number)
        }
    }

    /// On the queue's thread.
    func post() {
        meet(.posted)
        // Nobody traced when it was enqueued, but somebody may now.
        let number = number == 0 ? DeliveryEvent.nextPost() : number
        let queued = QueuedNotification(notification: notification, number: number, place: place)
        if let center = center as? ThreadedNotificationCenter { return center.postHeld(queued) }
        DeliveryEvent.trace(
            .post, name: notification.name, post: number, place: place, sender: NotificationObject(notification.object))
        ThreadContext.current.postingFromQueue(notification.name, number) { center.post(queued) }
    }
}
