internal import Dispatch
internal import Foundation
internal import Synchronization

/// Which observer; never used again.
typealias ObserverID = UInt64

/// One observer: what it asks for, where it handles, and what became of what was posted for it.
final class Registration: Sendable {
    let id: ObserverID
    let name: Notification.Name?
    let filter: ObjectFilter
    let key: ObserverRegistry<Registration>.Key
    /// Nil: it handles on the posting thread.
    let mailbox: ThreadMailbox?
    /// Which lane of the mailbox: its run loop modes.
    let lane: Int
    let options: ObserverOptions
    /// Whether its token's going removes it; else its object's or its thread's going does.
    let isKeptByToken: Bool
    let ledger = DeliveryLedger()

    private let life = Atomic<UInt64>(ObserverLife.registered.word)

    // Safety: set once before the registration is shared. It is read only between `begin` and `end`, and let go of once, by
    // whoever makes the life over: that is after every `end`, and before no `begin`.
    private nonisolated(unsafe) var handler: NotificationHandler?

    init(
        name: Notification.Name?, object: NotificationObject, mailbox: ThreadMailbox?, options: ObserverOptions,
        handler: NotificationHandler, isKeptByToken: Bool
    ) {
        precondition(
            !options.modes.isEmpty,
            "ObserverOptions: modes is empty, so nothing could be delivered. Name a mode, or .common.")
        precondition(
            options.overflow.capacity.map { $0 > 0 } ?? true,
            "OverflowPolicy: a capacity of \(options.overflow.capacity ?? 0) holds nothing. It must be at least 1.")
        id = lastID.add(1, ordering: .relaxed).newValue
        self.name = name
        filter = ObjectFilter(object)
        key = ObserverRegistry.Key(name: name?.rawValue, objectHash: object.hash)
        self.mailbox = mailbox
        lane = mailbox?.lane(for: options.modes) ?? 0
        self.options = options
        self.isKeptByToken = isKeptByToken
        self.handler = handler
    }

    deinit {
        // Its center went before it was removed.
        releaseHandler()
    }

    // MARK: Life

    var isCancelled: Bool { ObserverLife(word: life.load(ordering: .acquiring)).isCancelled }

    /// Whether it can never be called again, although nobody removed it.
    var isGone: Bool {
        guard !isKeptByToken else { return false }
        if mailbox?.isFinished == true { return true }
        guard begin() else { return true }
        defer { end() }
        guard case .threadBound(let bound) = handler else { return false }
        return bound.isGone
    }

    /// Makes a change to its life. Returns the lives before and after, or nil if there is nothing to change.
    private func change(_ next: (ObserverLife) -> ObserverLife?) -> (old: ObserverLife, new: ObserverLife)? {
        var old = life.load(ordering: .relaxed)
        while true {
            guard let new = next(ObserverLife(word: old)) else { return nil }
            let (exchanged, original) = life.compareExchange(
                expected: old, desired: new.word, ordering: .acquiringAndReleasing)
            if exchanged { return (ObserverLife(word: old), new) }
            old = original
        }
    }

    private func begin() -> Bool {
        change { $0.begun } != nil
    }

    /// Called as often as `begin` succeeded; also for a handler that ended its thread.
    func end() {
        guard let (_, life) = change({ $0.ended }) else { return }
        if life.isOver { releaseHandler() }
        if life.isAwaited { HandlerWaiters.handlerEnded(of: id) }
    }

    /// After it returns, no handler begins.
    /// - Returns: how many handlers run.
    @discardableResult
    func cancel() -> Int {
        guard let (old, new) = change({ $0.cancelled }) else {
            return ObserverLife(word: life.load(ordering: .acquiring)).running
        }
        guard !old.isCancelled else { return new.running }
        if new.isOver { releaseHandler() }
        mailbox?.observerWasCancelled(id)
        DeliveryWait.observerWasCancelled(id)
        return new.running
    }

    /// Waits until no handler of this cancelled observer runs on another thread.
    func waitUntilHandlersReturned(limit: Duration, at place: SourcePlace) throws(DeliveryError) {
        let own = ThreadContext.current.handlersUnderWay(of: self)
        func othersRun() -> Bool { ObserverLife(word: life.load(ordering: .acquiring)).running > own }
        guard othersRun() else { return }
        let id = id
        let ended = DispatchSemaphore(value: 0)
        HandlerWaiters.add(ended, for: id)
        defer { HandlerWaiters.remove(ended, for: id) }
        _ = change { $0.awaited }
        let thread = mailbox.map { " on \($0.description)" } ?? ""
        let wait = try ThreadWaits.begin(
            for: [.observer(id)], waitsFor: "the handler of observer \(id)\(thread) to return", at: place)
        defer { ThreadWaits.end(wait) }
        let deadline = ContinuousClock.Instant.after(limit)
        while othersRun() {
            guard ended.wait(timeout: .now() + .nanoseconds(deadline.nanosecondsFromNow)) == .success else {
                throw .handlerStillRunning(observer: id, after: limit)
            }
        }
    }

    private func releaseHandler() {
        // What is bound to a thread may be released on that thread only, so no reference is left here by then.
        if let bound = takeHandler() { mailbox?.release(bound) }
    }

    private func takeHandler() -> Unmanaged<ThreadBoundHandler>? {
        let taken = handler
        handler = nil
        guard case .threadBound(let bound) = taken else { return nil }
        return .passRetained(bound)
    }

    // MARK: Delivery

    /// Why a notification is no delivery to this observer.
    struct Unprepared: Error {
        /// `cancelled` or `notForIt`.
        var outcome: PostOutcome
    }

    /// What it gets of a notification, made on the posting thread.
    func prepare(_ posted: PostedNotification) -> Result<Delivery, Unprepared> {
        guard begin() else {
            traceSkip(posted)
            posted.wait?.resolve(id, .cancelled)
            return .failure(Unprepared(outcome: .cancelled))
        }
        defer { end() }
        let notification = posted.notification
        let payload: Payload
        if case .value(let map, _) = handler {
            let context = ThreadContext.current
            context.handlersUnderWay.append(HandlerUnderWay(registration: .passUnretained(self), wait: nil))
            let value = map(notification)
            context.handlersUnderWay.removeLast()
            guard let value else {
                traceSkip(posted)
                posted.wait?.resolve(id, .cancelled)
                return .failure(Unprepared(outcome: .notForIt))
            }
            payload = .value(value, of: notification.name)
        } else {
            payload = .notification(CapturedNotification(notification: notification))
        }
        ledger.countPosted()
        return .success(Delivery(registration: self, payload: payload, post: posted.number, wait: posted.wait))
    }

    private func traceSkip(_ posted: PostedNotification) {
        DeliveryEvent.trace(
            .skip, name: posted.notification.name, post: posted.number, observer: id, target: mailbox?.identity)
    }

    /// Called on the posting thread.
    func post(_ posted: PostedNotification) -> PostOutcome {
        switch prepare(posted) {
        case .failure(let unprepared): unprepared.outcome
        case .success(let delivery): mailbox?.post(delivery, posted) ?? deliverAtOnce(delivery)
        }
    }

    /// Delivers in the middle of what the calling thread does.
    func deliverAtOnce(_ delivery: Delivery, overtakes: Bool = false) -> PostOutcome {
        let isDelivered = ThreadContext.current.nest(delivery.name.rawValue) { deliver(delivery, overtakes: overtakes) }
        return isDelivered ? .delivered : .cancelled
    }

    /// Calls the handler on the calling thread, unless the observer was removed.
    func deliver(_ delivery: Delivery, overtakes: Bool) -> Bool {
        guard begin() else {
            meet(.cancelled, delivery)
            return false
        }
        let handle: ((Notification) -> Void)?
        if case .threadBound(let bound) = handler {
            handle = bound.call()
            if handle == nil {
                // Its object is no more, which is as good as removing it.
                end()
                cancel()
                meet(.cancelled, delivery)
                return false
            }
        } else {
            handle = nil
        }
        let context = ThreadContext.current
        context.handlersUnderWay.append(
            HandlerUnderWay(registration: .passUnretained(self), wait: delivery.wait))
        ledger.count(.delivered)
        DeliveryEvent.trace(
            .deliver, name: delivery.name, post: delivery.post, observer: id, target: mailbox?.identity,
            overtakes: overtakes)
        switch (handler, delivery.payload) {
        case (.notification(let handle), .notification(let captured)): handle(captured.notification)
        case (.value(_, let handle), .value(let value, _)): handle(value)
        case (.threadBound, .notification(let captured)): handle?(captured.notification)
        default: break
        }
        DeliveryEvent.trace(.return, name: delivery.name, post: delivery.post, observer: id)
        context.handlersUnderWay.removeLast()
        end()
        delivery.wait?.resolve(id, .delivered)
        return true
    }

    /// A notification for this observer meets a fate other than its handler.
    /// - Parameter other: the post that stands for it, if it is coalesced.
    func meet(_ fate: DeliveryLedger.Fate, _ delivery: Delivery, for other: UInt64 = 0) {
        ledger.count(fate)
        let stage: DeliveryEvent.Stage =
            switch fate {
            case .delivered: .deliver
            case .coalesced: .coalesce
            case .dropped: .drop
            case .cancelled: .cancel
            case .targetGone: .targetGone
            }
        DeliveryEvent.trace(
            stage, name: delivery.name, post: delivery.post, observer: id, target: mailbox?.identity,
            relatedPost: other, message: fate == .dropped ? options.overflow.name : nil)
        delivery.wait?.resolve(id, fate)
    }
}

private let lastID = Atomic<ObserverID>(0)
