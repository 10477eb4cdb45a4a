internal import Foundation

/// One attempt to enqueue a delivery for an observer with a limiting policy (guarantee 12).
struct BoundedEnqueue {
    private let delivery: Delivery
    private let name: Notification.Name
    private let object: NotificationObject
    private let observer: Observer
    private let mailbox: ThreadMailbox
    private let policy: OverflowPolicy

    /// - Parameter object: the notification's.
    init(_ delivery: Delivery, object: NotificationObject, for observer: Observer, in mailbox: ThreadMailbox) {
        policy = observer.options.overflow
        name = delivery.notification.name
        let key = policy == .keepLatest ? NotificationKey(name: name, object: object) : nil
        self.delivery = Delivery(delivery, bounded: observer, key: key)
        self.object = object
        self.observer = observer
        self.mailbox = mailbox
    }

    func run() -> DeliveryOutcome {
        observer.counters.countPosted()
        DeliveryEvent.trace(
            .append, name: name, post: delivery.post, observer: observer.id, target: mailbox.identity)
        while true {
            switch append() {
            case nil:
                ObserverCall.resolve(observer, .targetGone, delivery, reason: mailbox.noteLoss())
                return .targetGone
            case .appended(_, let displaced):
                if let displaced {
                    policy == .keepLatest
                        ? ObserverCall.resolve(observer, .coalesced, displaced, replacedBy: delivery.post)
                        : ObserverCall.resolve(observer, .dropped, displaced)
                }
                return .waiting
            case .obsolete:
                return resolve(.coalesced)
            case .refused:
                if case .refuse = policy.rule { return resolve(.refused) }
                return resolve(.dropped)
            case .wait: continue
            }
        }
    }

    private func resolve(_ outcome: DeliveryOutcome) -> DeliveryOutcome {
        ObserverCall.resolve(observer, outcome, delivery)
        return outcome
    }

    /// - Returns: nil if the thread accepts nothing more; `wait` also if another thread changed what waits meanwhile.
    private func append() -> MailboxState.Pending.BoundedResult? {
        // Comparing keys calls foreign code, so it is done without the lock.
        let (replacing, version) = entryToReplace()
        let hash = delivery.key?.hash
        typealias Result = (result: MailboxState.Pending.BoundedResult?, signal: MailboxState.Signal?)
        let (result, signal): Result = mailbox.state.withLock { state in
            guard state.acceptsDeliveries else { return (nil, nil) }
            if hash != nil, state.pending.version != version { return (.wait, nil) }
            let result = state.pending.append(
                delivery, to: observer.modeQueue, observer: observer.id, policy: policy, replacing: replacing,
                hash: hash, isRetained: delivery.isRetained)
            guard case .appended(true, _) = result else { return (result, nil) }
            mailbox.arrivals.set()
            return (result, state.signal(for: observer.modeQueue))
        }
        signal?.send(to: mailbox)
        return result
    }

    private func entryToReplace() -> (number: UInt64?, version: UInt64) {
        guard let hash = delivery.key?.hash else { return (nil, 0) }
        let (candidates, version) = mailbox.state.withLock {
            ($0.pending.candidates(observer: observer.id, hash: hash), $0.pending.version)
        }
        let same = candidates.first { _, item in item.key?.isSame(asName: name, object: object) == true }
        return (same?.0, version)
    }
}
