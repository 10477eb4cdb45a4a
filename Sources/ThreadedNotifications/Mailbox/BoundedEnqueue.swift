internal import Foundation

/// One attempt to enqueue a delivery for an observer with a limiting policy (guarantee 12).
struct BoundedEnqueue {
    private let delivery: Delivery
    private let name: Notification.Name
    private let object: NotificationObject
    private let observer: Observer
    private let mailbox: ThreadMailbox
    private let location: SourceLocation
    private let policy: OverflowPolicy
    /// Nil: the posting thread does not wait for room.
    private let deadline: SuspendingClock.Instant?

    /// - Parameters:
    ///   - object: the notification's.
    ///   - canWait: false on the target thread, which alone makes room, and in the observer's own async handler.
    init(
        _ delivery: Delivery, object: NotificationObject, at location: SourceLocation, for observer: Observer,
        in mailbox: ThreadMailbox, canWait: @autoclosure () -> Bool
    ) {
        policy = observer.options.overflow
        name = delivery.notification.name
        let key = policy == .keepLatest ? NotificationKey(name: name, object: object) : nil
        self.delivery = Delivery(delivery, bounded: observer, key: key)
        self.object = object
        self.observer = observer
        self.mailbox = mailbox
        self.location = location
        if case .block(_, let timeout) = policy, canWait() { deadline = .after(timeout) } else { deadline = nil }
    }

    func run() -> DeliveryOutcome {
        observer.counters.countPosted()
        DeliveryEvent.trace(
            .append, name: name, post: delivery.post, observer: observer.id, target: mailbox.identity)
        while true {
            let waiter = deadline.flatMap { $0.nanosecondsFromNow > 0 ? RoomWaiter() : nil }
            switch append(waiter) {
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
                if case .refuse = policy { return resolve(.refused) }
                return resolve(.dropped)
            case .wait:
                guard let waiter, let deadline else { continue }
                if observer.isCancelled {
                    _ = mailbox.state.withLock { $0.pending.removeWaiter(waiter, of: observer.id) }
                    return resolve(.cancelled)
                }
                if !waitForRoom(waiter, until: deadline) { return resolve(.dropped) }
            }
        }
    }

    private func resolve(_ outcome: DeliveryOutcome) -> DeliveryOutcome {
        ObserverCall.resolve(observer, outcome, delivery)
        return outcome
    }

    /// - Returns: nil if the thread accepts nothing more; `wait` also if another thread changed what waits meanwhile.
    private func append(_ waiter: RoomWaiter?) -> MailboxState.Pending.BoundedResult? {
        // Comparing keys calls foreign code, so it is done without the lock.
        let (replacing, version) = entryToReplace()
        let hash = delivery.key?.hash
        typealias Result = (result: MailboxState.Pending.BoundedResult?, signal: MailboxState.Signal?)
        let (result, signal): Result = mailbox.state.withLock { state in
            guard state.acceptsDeliveries else { return (nil, nil) }
            if hash != nil, state.pending.version != version { return (.wait, nil) }
            let result = state.pending.append(
                delivery, to: observer.modeQueue, observer: observer.id, policy: policy, replacing: replacing,
                hash: hash, waiter: waiter, isRetained: delivery.isRetained)
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

    /// - Returns: whether to try again; false if the wait would never end.
    private func waitForRoom(_ waiter: RoomWaiter, until deadline: SuspendingClock.Instant) -> Bool {
        let target = mailbox.requiredThread.map { [WaitGraph.Target.thread($0.number)] } ?? []
        let hasWaited: Bool
        do throws(DeliveryError) {
            try waiter.wait(
                for: target, on: mailbox.requiredThread,
                waitsFor: "\(mailbox.numberAndName) to make room for observer \(observer.id)", until: deadline,
                at: location)
            hasWaited = true
        } catch {
            hasWaited = false
        }
        let wasWoken = mailbox.state.withLock { !$0.pending.removeWaiter(waiter, of: observer.id) }
        // A woken waiter has room, even if its wait was refused.
        return hasWaited || wasWoken
    }
}
