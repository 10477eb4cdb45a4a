internal import Foundation
internal import Synchronization

/// The number of an observer; never used again.
package typealias ObserverID = UInt64

/// One observer: what it asks for, where it handles, its state and its counters. Every delivery ends in `call`.
//
// Safety: `handler` is read between `begin` and `end` only, and changed once, by the change that makes the state over;
// `ObserverState` excludes both at the same time. `batch` is used with the lock of the queue held. Everything else is
// constant, or atomic.
final class Observer: @unchecked Sendable {
    let id: ObserverID
    let name: Notification.Name?
    let filter: ObjectFilter
    let key: ObserverRegistry<Observer>.Key
    /// The mailbox of the target thread; nil: it handles on the posting thread, or in tasks.
    let mailbox: Mailbox?
    /// Nil: it handles on a thread.
    let tasks: TaskMailbox?
    let options: ObserverOptions
    /// Where it was added.
    let location: SourceLocation
    /// True if releasing the token removes the observer. Otherwise the end of its object or of its thread does.
    let isRemovedWithToken: Bool
    /// True if what it gets is made on the posting thread.
    let prepares: Bool
    let isCaptured: Bool
    /// The type of the messages that it gets as they are.
    let messageType: ObjectIdentifier?
    private let objectLife: ObjectLife?
    /// True if its deliveries keep the order of its thread.
    let keepsOrder: Bool
    /// What waits for it, if its overflow policy limits that.
    private let bounded: Locked<BoundedDeliveries>?
    let counters = ObserverCounters()
    private var batch: UInt64 = 0
    // Posting threads write what precedes; the target thread writes what follows.
    private let padding = CachePadding()
    private let stateWord = Atomic<UInt64>(ObserverState.registered.word)
    private var handler: Handler?

    init(
        name: Notification.Name?, object: NotificationObject, options: ObserverOptions, handler: Handler,
        location: SourceLocation
    ) {
        id = Recorder.nextObserver() ?? lastID.add(1, ordering: .relaxed).newValue
        self.name = name
        filter = ObjectFilter(object)
        key = ObserverRegistry.Key(name: name?.rawValue, objectHash: object.hash)
        (mailbox, tasks) = (handler.place.mailbox, handler.place.tasks)
        self.options = options
        self.location = location
        self.handler = handler
        isRemovedWithToken = handler.objectLife == nil
        prepares = handler.prepare != nil
        (isCaptured, messageType) = (handler.message?.isCaptured ?? true, handler.messageType)
        objectLife = handler.objectLife
        keepsOrder = handler.place.mailbox != nil && options.sameThread != .atOnce
        bounded = options.overflow == .unbounded ? nil : Locked(BoundedDeliveries())
        precondition(
            mailbox != nil || tasks != nil || options.sameThread != .later,
            "ObserverOptions: sameThread is .later, and .postingThread has no mailbox to wait in. Name a thread.")
    }

    deinit {
        // The center may be deallocated before the observer is removed.
        releaseHandler()
    }

    // MARK: Where it handles

    /// The name whose latest notification is retained for it.
    var retainedName: String? { options.receivesLatest ? name?.rawValue : nil }

    /// True if what it gets waits, in a mailbox or for a task.
    var isEnqueuedFor: Bool { mailbox != nil || tasks != nil }

    /// True if it handles on the calling thread, which has this context.
    func isHere(_ context: ThreadContext) -> Bool {
        guard let mailbox else { return tasks == nil }
        return context.owns(mailbox)
    }

    /// True if a post on the calling thread calls it before it returns.
    /// - Parameter orderedWait: whether the ordered observers of the thread must wait.
    func isCalledAtOnce(in context: ThreadContext, orderedWait: Bool) -> Bool {
        isHere(context) && options.sameThread != .later && !(orderedWait && keepsOrder)
    }

    /// Called with the lock of the queue held when a delivery for it is appended.
    /// - Returns: whether the batch must retain it.
    func enters(batch: UInt64) -> Bool {
        guard self.batch != batch else { return false }
        self.batch = batch
        return true
    }

    // MARK: State

    var state: ObserverState { ObserverState(word: stateWord.load(ordering: .acquiring)) }
    var isCancelled: Bool { state.isCancelled }

    /// The address of the object, if the handler is a method.
    var receiver: UInt? { objectLife?.identifier }

    /// True if the handler is a method of an object that has been deallocated. Then the observer does not match.
    var hasLostItsObject: Bool { objectLife?.isOver == true }

    /// True if its handler can never be called again, although its token has not removed it.
    var isGone: Bool { hasLostItsObject || !isRemovedWithToken && mailbox?.isEnded == true }

    /// - Returns: the state after the change; nil if there is nothing to change.
    private func change(_ next: (ObserverState) -> ObserverState?) -> ObserverState? {
        var old = stateWord.load(ordering: .relaxed)
        while true {
            guard let new = next(ObserverState(word: old)) else { return nil }
            let (exchanged, original) = stateWord.compareExchange(
                expected: old, desired: new.word, ordering: .acquiringAndReleasing)
            if exchanged { return new }
            old = original
        }
    }

    /// Begins a call of the handler or of its `prepare`. The caller calls `end` once for each.
    /// - Returns: the handler; nil if the observer was removed.
    func begin() -> Handler? { change { $0.begun } == nil ? nil : handler }

    /// Ends a call, also if the handler ended its thread.
    func end() {
        guard let state = change({ $0.ended }), state.isCancelled else { return }
        if state.isOver { releaseHandler() }
        if state.isAwaited { ObserverWaiters.handlerEnded(of: id) }
    }

    /// When it returns, no call begins.
    /// - Returns: the number of calls that run.
    @discardableResult
    func cancel() -> Int {
        guard let state = change({ $0.isCancelled ? nil : $0.cancelled }) else { return state.running }
        if state.isOver { releaseHandler() }
        ObserverWaiters.observerWasCancelled(id)
        return state.running
    }

    /// Waits until no call of this cancelled observer's handler runs on another thread.
    func waitUntilHandlersReturned(timeout: Duration, at location: SourceLocation) throws(DeliveryError) {
        let own = ThreadContext.current.handlersUnderWay(of: self) + ownAsyncCalls
        guard state.running > own, mailbox?.isOfParent != true else { return }
        let ended = MonotonicSemaphore()
        let waiter = ObserverWaiters.add(.thread(ended), for: id)
        defer { ObserverWaiters.remove(waiter, for: id) }
        _ = change { $0.awaited }
        let thread = mailbox.map { " on \($0.numberAndName)" } ?? ""
        let wait = try ThreadWaits.begin(
            for: [.observer(id)], on: mailbox?.identity,
            waitsFor: "the handler of observer \(id)\(thread) to return", at: location)
        defer { ThreadWaits.end(wait) }
        let deadline = SuspendingClock.Instant.after(timeout)
        while state.running > own {
            guard ended.wait(until: deadline) else {
                ThreadWaits.end(wait, timedOut: true)
                throw .handlerStillRunning(observer: id, after: timeout)
            }
        }
    }

    /// Suspends the task until no call of this cancelled observer's handler runs, except that of the task itself.
    func waitUntilHandlersReturned(timeout: Duration) async throws {
        let own = ownAsyncCalls
        let deadline = SuspendingClock.Instant.after(timeout)
        _ = change { $0.awaited }
        while state.running > own {
            let ended = TaskWait()
            let waiter = ObserverWaiters.add(.task(ended), for: id)
            defer { ObserverWaiters.remove(waiter, for: id) }
            // From now on the next handler that returns ends the wait.
            guard state.running > own else { return }
            try await ended.wait(until: deadline, orThrow: .handlerStillRunning(observer: id, after: timeout))
        }
    }

    /// 1 in its own async handler.
    private var ownAsyncCalls: Int {
        guard let tasks else { return 0 }
        return tasks.isInCurrentTask && tasks.isCalling ? 1 : 0
    }

    private func releaseHandler() {
        guard let isThreadBound = handler?.isThreadBound else { return }
        if isThreadBound, let mailbox { mailbox.release(handler.take()!) } else { handler = nil }
    }

    // MARK: The way of a notification

    /// Makes what it gets of a notification, on the posting thread.
    /// - Returns: nil if it does not get the notification; the notification, if the observer was removed, so that its
    ///   delivery is cancelled.
    func prepare(_ posted: PostedNotification, _ post: Post, _ context: ThreadContext) -> Payload? {
        if let message = post.message, message.type == messageType { return message.payload }
        // Not the handler, because this thread must not be the last to release it.
        guard let prepare = begin().map(\.prepare) else { return posted }
        context.handlersUnderWay.begin(self, nil)
        let value = prepare?(posted.posted, post)
        context.handlersUnderWay.end()
        end()
        if value == nil {
            DeliveryEvent.trace(
                .skip, name: posted.name, post: post.number, observer: id, target: mailbox?.identity)
            post.wait?.resolve(id, .cancelled)
        }
        return value
    }

    /// Enqueues a delivery for its thread, or for its tasks.
    /// - Parameter posted: what was posted.
    /// - Returns: `waiting`, or the outcome.
    func enqueue(_ delivery: Delivery, of posted: Payload) -> DeliveryOutcome {
        DeliveryEvent.trace(
            .append, name: posted.name, post: delivery.post, observer: id, target: mailbox?.identity)
        counters.countPosted()
        var entry = delivery
        if bounded != nil {
            let (ticket, outcome) = hold(delivery, of: posted)
            guard let ticket else {
                settle(delivery, outcome)
                return outcome
            }
            entry = ticket
        }
        if mailbox?.enqueue(entry) ?? tasks?.enqueue(entry) ?? false { return .waiting }
        settle(entry, .targetGone, reason: mailbox?.noteLoss())
        return .targetGone
    }

    /// Delivers what was enqueued.
    /// - Returns: whether the handler was called.
    func callEnqueued(_ entry: Delivery, _ context: ThreadContext) -> Bool {
        guard let (delivery, payload) = redeem(entry) else { return false }
        if delivery.isLatest, counters.wasCalled {
            settle(delivery, .coalesced)
            return false
        }
        // The call may release this observer.
        let id = id
        delivery.wait?.deliveryBegins(to: id)
        guard call(payload, post: delivery.post, delivery.wait, context, isAtOnce: false) else {
            settle(delivery, .cancelled)
            return false
        }
        // Last: the handler and its object are released before a waiting poster continues.
        delivery.wait?.resolve(id, .delivered)
        return true
    }

    /// Calls it before `post` returns.
    func callAtOnce(
        _ payload: Payload, post: UInt64, _ context: ThreadContext, overtakes: Bool
    ) -> DeliveryOutcome {
        if call(payload, post: post, nil, context, isAtOnce: true, overtakes: overtakes) { return .delivered }
        counters.countPosted()
        settle(Delivery(.payload(payload), post: post), .cancelled)
        return .cancelled
    }

    /// Calls the handler: begins, counts, traces, calls, ends.
    /// - Returns: false if the observer was removed, or if the object of its method was deallocated.
    private func call(
        _ payload: Payload, post: UInt64, _ wait: DeliveryWait?, _ context: ThreadContext, isAtOnce: Bool,
        overtakes: Bool = false
    ) -> Bool {
        guard let handler = begin() else { return false }
        var object: AnyObject?
        if handler.isMethod {
            object = handler.object?.object
            if object == nil {
                end()
                return false
            }
        }
        context.handlersUnderWay.begin(self, wait)
        if isAtOnce { counters.countPosted() }
        counters.count(.delivered)
        // A post that nothing traced has no number. Then its handlers called at once are not traced either.
        if DeliveryEvent.isWatched, !isAtOnce || post != 0 {
            traceCall(of: handler, payload, post: post, object, overtakes)
        } else if case .direct(let function) = handler.function {
            function(payload, object)
        }
        let lastReference = context.handlersUnderWay.end()
        end()
        withExtendedLifetime(lastReference) {}
        return true
    }

    private func traceCall(
        of handler: Handler, _ payload: Payload, post: UInt64, _ object: AnyObject?, _ overtakes: Bool
    ) {
        DeliveryEvent.trace(
            .deliver, name: payload.name, post: post, observer: id, target: mailbox?.identity, overtakes: overtakes)
        if case .direct(let function) = handler.function { function(payload, object) }
        DeliveryEvent.trace(.return, name: payload.name, post: post, observer: id)
    }

    /// Delivers to an async handler, in a task. The handler may return on another thread than the one on which it began,
    /// so that both are traced there, one after the other.
    func callEnqueued(_ entry: Delivery, in tasks: TaskMailbox) async {
        guard let (delivery, payload) = redeem(entry) else { return }
        if delivery.isLatest, counters.wasCalled {
            settle(delivery, .coalesced)
            return
        }
        delivery.wait?.deliveryBegins(to: id)
        guard let handler = begin() else {
            settle(delivery, .cancelled)
            return
        }
        tasks.isCalling = true
        if case .async(let function) = handler.function { await function(payload) }
        counters.count(.delivered)
        DeliveryEvent.trace(.deliver, name: payload.name, post: delivery.post, observer: id)
        DeliveryEvent.trace(.return, name: payload.name, post: delivery.post, observer: id)
        end()
        tasks.isCalling = false
        delivery.wait?.resolve(id, .delivered)
    }

    /// Counts and traces an outcome without a call, and releases a waiting poster.
    /// - Parameters:
    ///   - other: for `coalesced`, the number of the post that replaces it.
    ///   - reason: for `targetGone`.
    /// - Returns: false for a ticket whose delivery has an outcome.
    @discardableResult
    func settle(
        _ entry: Delivery, _ outcome: DeliveryOutcome, replacedBy other: UInt64 = 0,
        reason: DeliveryEvent.Reason? = nil
    ) -> Bool {
        guard let (delivery, payload) = redeem(entry) else { return false }
        counters.count(outcome)
        DeliveryEvent.trace(
            outcome.stage, name: payload.name, post: delivery.post, observer: id, target: mailbox?.identity,
            relatedPost: other, policy: outcome.stage == .drop ? options.overflow : nil, reason: reason)
        delivery.wait?.resolve(id, outcome)
        return true
    }

    // MARK: Bounds

    func holds(_ ticket: BoundedDeliveries.Number) -> Bool { bounded?.withLock { $0.holds(ticket) } ?? false }

    /// The delivery of an entry: itself, or that of a ticket.
    /// - Returns: nil if the overflow policy gave it up.
    private func redeem(_ entry: Delivery) -> (Delivery, Payload)? {
        if case .payload(let payload) = entry.content { return (entry, payload) }
        guard case .ticket(let number) = entry.content, let held = bounded?.withLock({ $0.take(number) }),
            case .payload(let payload) = held.content
        else { return nil }
        return (held, payload)
    }

    /// Holds a delivery, as far as the overflow policy allows.
    /// - Returns: the ticket to enqueue; or nil and the outcome.
    private func hold(
        _ delivery: Delivery, of posted: Payload
    ) -> (ticket: Delivery?, outcome: DeliveryOutcome) {
        guard let bounded else { return (delivery, .waiting) }
        if delivery.isLatest, bounded.withLock({ !$0.isEmpty }) { return (nil, .coalesced) }
        let policy = options.overflow
        let object = policy == .keepLatest ? NotificationObject(posted.object) : .none
        let key = policy == .keepLatest ? NotificationKey(name: posted.name, object: object) : nil
        while true {
            // Comparing keys calls foreign code, so it is done without the lock.
            let (candidates, version) = bounded.withLock { bounded in
                (key.map { bounded.candidates(hash: $0.hash) } ?? [], bounded.version)
            }
            let replacing = candidates.first { $0.key.isSame(asName: posted.name, object: object) }?.number
            let added = bounded.withLock {
                $0.add(delivery, policy, key: key, replacing: replacing, version: version)
            }
            switch added {
            case .mustCompareAgain: continue
            case .refused:
                if case .refuse = policy.rule { return (nil, .refused) }
                return (nil, .dropped)
            case .waits(let number, let displaced):
                if let displaced {
                    let outcome: DeliveryOutcome = policy == .keepLatest ? .coalesced : .dropped
                    settle(displaced, outcome, replacedBy: policy == .keepLatest ? delivery.post : 0)
                    mailbox?.ticketBecameStale()
                    tasks?.ticketBecameStale()
                }
                return (Delivery(.ticket(number), for: self), .waiting)
            }
        }
    }
}

extension DeliveryOutcome {
    /// The stage that tells the outcome.
    fileprivate var stage: DeliveryEvent.Stage {
        switch self {
        case .delivered: .deliver
        case .waiting: .append
        case .coalesced: .coalesce
        case .dropped, .refused: .drop
        case .cancelled: .cancel
        case .targetGone: .targetGone
        }
    }
}

private let lastID = Atomic<ObserverID>(0)
