internal import Foundation

/// The turns that observers on the posting thread have of one post, in one lane of its mailbox: each is delivered before what comes
/// after it there.
//
// Safety: only the thread that posts touches it, which is the target thread; or, when that has ended, whoever finishes the mailbox.
final class HeldTurns: @unchecked Sendable {
    struct Turn {
        let observer: Registration
        let place: UInt64
    }

    let lane: Int
    let notification: Notification
    let posted: PostedNotification
    /// From where on places are counted.
    var firstPlace: UInt64 = 0
    @exclusivity(unchecked) private var turns: [Turn] = []
    @exclusivity(unchecked) private var next = 0
    /// What became of those that a drain took, by place.
    private var outcomes: [UInt64: DeliveryOutcome?] = [:]

    init(_ notification: Notification, _ posted: PostedNotification, lane: Int) {
        self.lane = lane
        self.notification = notification
        self.posted = posted
    }

    /// Adds a turn, before any was taken. Places are counted from 0 and added in their order.
    func add(_ observer: Registration, place: UInt64) {
        turns.append(Turn(observer: observer, place: place))
    }

    /// The place of the next turn; nil when all were taken.
    var nextPlace: UInt64? { next < turns.count ? firstPlace + turns[next].place : nil }

    /// Takes the next turn, which there is.
    @inline(__always)
    func takeNext() -> Unmanaged<Registration> {
        next += 1
        return .passUnretained(turns[next - 1].observer)
    }

    /// A drain took a turn.
    func wasDrained(at place: UInt64, _ outcome: DeliveryOutcome?) {
        outcomes[place] = outcome
    }

    /// What became of a turn that a drain took.
    func outcome(at place: UInt64) -> DeliveryOutcome? { outcomes[place] ?? .delivered }

    /// The thread has ended.
    func targetIsGone() {
        for turn in turns[next...] {
            turn.observer.ledger.countPosted()
            turn.observer.resolve(
                .targetGone, notification.name, post: posted.number, wait: posted.wait)
        }
        next = turns.count
    }
}
