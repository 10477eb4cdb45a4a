internal import Foundation

/// What a mailbox does for an observer whose policy bounds how much may wait (guarantee 12).
extension ThreadMailbox {
    /// Adds a notification to the end, if the observer's policy allows.
    /// - Parameters:
    ///   - handed: what the observer gets of the notification.
    ///   - isCurrent: whether this is the calling thread's mailbox, so that nobody else makes room.
    func appendBounded(
        _ handed: Notification, _ notification: Notification, _ posted: PostedNotification,
        for registration: Registration, isCurrent: Bool
    ) -> DeliveryOutcome? {
        let policy = registration.options.overflow
        let object = NotificationObject(notification.object)
        let key = policy == .keepLatest ? NotificationKey(name: notification.name, object: object) : nil
        let item = MailboxItem(
            bounded: handed, for: registration, post: posted.number, wait: posted.wait, key: key)
        let hash = key?.hash
        var deadline: ContinuousClock.Instant?
        if case .block(_, let timeout) = policy, !isCurrent { deadline = .after(timeout) }

        while true {
            // To compare keys is foreign code, so it is done without the lock, and again if something changed meanwhile.
            let (replacing, version) = placeToReplace(in: registration, notification.name, object, hash)
            let waiter = deadline.flatMap { $0.nanosecondsFromNow > 0 ? RoomWaiter() : nil }
            let (outcome, signal): (Pending.BoundedOutcome?, Signal?) = state.withLock { state in
                guard state.phase == .open || state.phase == .unstarted else { return (nil, nil) }
                if hash != nil, state.pending.version != version { return (.wait, nil) }
                let outcome = state.pending.append(
                    item, lane: registration.lane, observer: registration.id, policy: policy,
                    replacing: replacing, hash: hash, waiter: waiter)
                if case .appended(true, _) = outcome {
                    somethingIsPending(&state)
                    let isLookedAt = state.lookedAt == registration.lane
                    return (outcome, isLookedAt ? nil : Signal(to: registration.lane, of: state))
                }
                return (outcome, nil)
            }
            signal?.send()
            switch outcome {
            case nil:
                registration.resolve(.targetGone, item)
                return .targetGone
            case .appended(_, let displaced):
                if let other = displaced {
                    policy == .keepLatest
                        ? registration.resolve(.coalesced, other, for: posted.number)
                        : registration.resolve(.dropped, other)
                }
                return .waiting
            case .refused:
                let outcome: DeliveryOutcome = if case .refuse = policy { .refused } else { .dropped }
                registration.resolve(outcome, item)
                return outcome
            case .wait:
                guard let waiter, let deadline else { continue }
                if registration.isCancelled {
                    _ = state.withLock { $0.pending.removeWaiter(waiter, of: registration.id) }
                    registration.resolve(.cancelled, item)
                    return .cancelled
                }
                let isRoom = waitForRoom(waiter, registration, until: deadline, at: posted.place)
                if !isRoom {
                    registration.resolve(.dropped, item)
                    return .dropped
                }
            }
        }
    }

    private func placeToReplace(
        in registration: Registration, _ name: Notification.Name, _ object: NotificationObject, _ hash: Int?
    ) -> (place: UInt64?, version: UInt64) {
        guard let hash else { return (nil, 0) }
        let (candidates, version) = state.withLock {
            ($0.pending.candidates(observer: registration.id, hash: hash), $0.pending.version)
        }
        let same = candidates.first { _, item in item.key?.isSame(asName: name, object: object) == true }
        return (same?.0, version)
    }

    /// - Returns: whether to try again; false if the wait would never end.
    private func waitForRoom(
        _ waiter: RoomWaiter, _ registration: Registration, until deadline: ContinuousClock.Instant,
        at place: SourceLocation
    ) -> Bool {
        let target = identity.map { [WaitGraph.Target.thread($0.number)] } ?? []
        let hasWaited: Bool
        do throws(DeliveryError) {
            try waiter.wait(
                for: target, waitsFor: "\(description) to make room for observer \(registration.id)", until: deadline,
                at: place)
            hasWaited = true
        } catch {
            hasWaited = false
        }
        let waitsStill = state.withLock { $0.pending.removeWaiter(waiter, of: registration.id) }
        // Who was woken has a place to take, also if it did not wait.
        return hasWaited || !waitsStill
    }
}
