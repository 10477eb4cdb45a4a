internal import Foundation
internal import Synchronization

/// The number of an observer; never used again.
package typealias ObserverID = UInt64

/// One observer: its name and object, its thread, its state and its counters. `call` calls every handler on a thread.
//
// Safety: `handler` is read between the changes of the state to begun and to ended only, and changed once, by the
// change that makes the state over; `ObserverState` excludes both at the same time. `batch` is used with the lock of
// the queue held. Everything else is constant, or atomic.
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
    private let sameThread: SameThreadPolicy
    /// The deliveries that wait, if its overflow policy limits them.
    let bounded: Locked<BoundedDeliveries>?
    let counters = ObserverCounters()
    /// The last batch of its queue that retains it.
    var batch: UInt64 = 0
    // Posting threads write what precedes; the target thread writes what follows.
    private let padding = CachePadding()
    private let stateWord = Atomic<UInt64>(ObserverState.registered.word)
    /// Not counted, because a frame must not retain what runs when the thread ends.
    private var handler: Unmanaged<Handler>?

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
        self.handler = .passRetained(handler)
        isRemovedWithToken = handler.objectLife == nil
        prepares = handler.prepare != nil
        (isCaptured, messageType) = (handler.message?.isCaptured ?? true, handler.messageType)
        objectLife = handler.objectLife
        sameThread = options.sameThread
        bounded = options.overflow == .unbounded ? nil : Locked(BoundedDeliveries())
        precondition(
            mailbox != nil || tasks != nil || options.sameThread != .later,
            "ObserverOptions: sameThread is .later, and .postingThread has no mailbox to wait in. Name a thread.")
    }

    deinit {
        // The center may be deallocated before the observer is removed.
        releaseHandler()
    }

    /// How a post on the calling thread, which has this context, reaches it; nil: through the queue of another thread,
    /// or of its tasks.
    func policy(in context: ThreadContext) -> SameThreadPolicy? {
        guard let mailbox else { return tasks == nil ? .atOnce : nil }
        return mailbox === context.mailbox ? sameThread : nil
    }

    /// True if what it gets waits, in a mailbox or for a task.
    var isEnqueuedFor: Bool { mailbox != nil || tasks != nil }

    /// True if it gets the message, and the notification of the message is not needed for the policy `keepLatest`.
    func needsOnly(_ message: PostedMessage) -> Bool {
        messageType == message.type && options.overflow != .keepLatest
    }

    /// The name, if the latest notification of it is retained for this observer.
    var retainedName: String? { options.receivesLatest ? name?.rawValue : nil }

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
    func change(_ next: (ObserverState) -> ObserverState?) -> ObserverState? {
        var old = stateWord.load(ordering: .relaxed)
        while true {
            guard let new = next(ObserverState(word: old)) else { return nil }
            let (exchanged, original) = stateWord.compareExchange(
                expected: old, desired: new.word, ordering: .acquiringAndReleasing)
            if exchanged { return new }
            old = original
        }
    }

    /// Ends a call of the handler or of its `prepare`, also if it ended its thread.
    func end() {
        guard let state = change({ $0.ended }), state.isCancelled else { return }
        if state.isOver { releaseHandler() }
        if state.isAwaited { Waits.handlerEnded(of: id) }
    }

    /// When it returns, no call begins.
    /// - Returns: the number of calls that run.
    @discardableResult
    func cancel() -> Int {
        guard let state = change({ $0.isCancelled ? nil : $0.cancelled }) else { return state.running }
        if state.isOver { releaseHandler() }
        Waits.observerWasCancelled(id)
        return state.running
    }

    private func releaseHandler() {
        guard let isThreadBound = handler?._withUnsafeGuaranteedRef(\.isThreadBound) else { return }
        // Moved, so that the last reference is not this thread's.
        if isThreadBound, let mailbox {
            mailbox.release(handler.take()!.takeRetainedValue())
        } else {
            handler.take()?.release()
        }
    }

    // MARK: The way of a notification

    /// Makes what it gets of a notification, on the posting thread.
    /// - Returns: nil if it does not get the notification; the notification, if the observer was removed, so that its
    ///   delivery is cancelled.
    func prepare(_ posted: PostedNotification, _ post: borrowing Post, _ context: ThreadContext) -> Payload? {
        if let message = post.message, message.type == messageType { return message.payload }
        guard change({ $0.begun }) != nil else { return PostedNotification(posted.posted.kept) }
        context.underWay.append((.passUnretained(self), nil, nil))
        let value = handler?._withUnsafeGuaranteedRef { $0.prepare?(posted.posted) }
        context.underWay.removeLast()
        end()
        if value == nil {
            DeliveryEvent.trace(.skip, name: posted.name, post: post.number, observer: id, target: mailbox?.identity)
            post.wait?.resolve(id, .waiting)
        }
        return value
    }

    /// Enqueues a delivery for its thread, or for its tasks.
    /// - Parameter posted: what was posted.
    /// - Returns: `waiting`, or the outcome.
    func enqueue(_ delivery: consuming Delivery, of posted: Payload) -> DeliveryOutcome {
        DeliveryEvent.trace(.append, name: posted.name, post: delivery.post, observer: id, target: mailbox?.identity)
        counters.posted.wrappingAdd(1, ordering: .relaxed)
        if bounded != nil {
            let (ticket, outcome) = hold(delivery, of: posted)
            guard let ticket else {
                settle(delivery, outcome)
                return outcome
            }
            delivery = ticket
        }
        let refused = if let mailbox { mailbox.enqueue(delivery) } else { tasks?.enqueue(delivery) }
        guard let refused else { return .waiting }
        if settle(refused, .targetGone, reason: mailbox?.noteLoss()) { return .targetGone }
        // Another thread has displaced it meanwhile.
        return options.overflow == .keepLatest ? .coalesced : .dropped
    }

    /// Delivers what was enqueued. A nested drain may release the observer before the call returns.
    /// - Returns: whether the handler was called.
    func callEnqueued(_ entry: Delivery, _ context: ThreadContext) -> Bool {
        if bounded == nil { return callRedeemed(entry, context) }
        return redeem(entry).map { callRedeemed($0, context) } ?? false
    }

    private func callRedeemed(_ delivery: Delivery, _ context: ThreadContext) -> Bool {
        guard case .payload(let payload) = delivery.content else { return false }
        if delivery.isLatest, counters.wasCalled {
            settle(delivery, .coalesced)
            return false
        }
        let id = id
        delivery.wait?.deliveryBegins(to: id)
        guard call(payload, post: delivery.post, delivery.wait, context) else {
            settle(delivery, .cancelled)
            return false
        }
        // Last: the handler and its object are released before a waiting poster continues.
        delivery.wait?.resolve(id, .delivered)
        return true
    }

    /// Calls it before `post` returns.
    /// - Returns: false if the observer was removed.
    func callAtOnce(_ payload: Payload, post: UInt64, _ context: ThreadContext, overtakes: Bool) -> Bool {
        counters.posted.wrappingAdd(1, ordering: .relaxed)
        // A post that nothing traced has no number. Then its handlers called at once are not traced either.
        if call(payload, post: post, nil, context, isTraced: post != 0, overtakes: overtakes) { return true }
        settle(Delivery(.payload(payload), post: post), .cancelled)
        return false
    }

    /// Calls the handler: begins, counts, traces, calls, ends.
    /// - Returns: false if the observer was removed, or if the object of its method was deallocated.
    private func call(
        _ payload: Payload, post: UInt64, _ wait: DeliveryWait?, _ context: ThreadContext, isTraced: Bool = true,
        overtakes: Bool = false
    ) -> Bool {
        guard change({ $0.begun }) != nil, let handler else { return false }
        var object: AnyObject?
        if receiver != nil {
            object = handler._withUnsafeGuaranteedRef { $0.object?.object }
            if object == nil {
                end()
                return false
            }
        }
        context.underWay.append((.passUnretained(self), wait, nil))
        counters.delivered.wrappingAdd(1, ordering: .relaxed)
        let isTraced = isTraced && DeliveryEvent.isWatched
        if isTraced {
            DeliveryEvent.trace(
                .deliver, name: payload.name, post: post, observer: id, target: mailbox?.identity, overtakes: overtakes)
        }
        handler._withUnsafeGuaranteedRef { handler in
            handler.call(payload, object)
        }
        if isTraced { DeliveryEvent.trace(.return, name: payload.name, post: post, observer: id) }
        let last = context.underWay.removeLast()
        end()
        // Last: it may have the only reference to this observer.
        withExtendedLifetime(last) {}
        return true
    }

    /// Delivers to an async handler, in a task. The handler may return on another thread than the one on which it
    /// began, so that both are traced there, one after the other.
    func callEnqueued(_ entry: Delivery, in tasks: TaskMailbox) async {
        guard let delivery = redeem(entry), case .payload(let payload) = delivery.content else { return }
        if delivery.isLatest, counters.wasCalled {
            settle(delivery, .coalesced)
            return
        }
        delivery.wait?.deliveryBegins(to: id)
        guard change({ $0.begun }) != nil, let handler else {
            settle(delivery, .cancelled)
            return
        }
        tasks.isCalling = true
        await handler._withUnsafeGuaranteedRef(\.callInTask)?(payload)
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
    /// - Returns: false for a ticket without a delivery: that has an outcome.
    @discardableResult
    func settle(
        _ entry: Delivery, _ outcome: DeliveryOutcome, replacedBy other: UInt64 = 0,
        reason: DeliveryEvent.Reason? = nil
    ) -> Bool {
        guard let delivery = redeem(entry), case .payload(let payload) = delivery.content else { return false }
        // A tracer may drain, which may release the observer.
        let id = id
        counters.count(outcome)
        DeliveryEvent.trace(
            outcome.stage, name: payload.name, post: delivery.post, observer: id, target: mailbox?.identity,
            relatedPost: other, policy: outcome.stage == .drop ? options.overflow : nil, reason: reason)
        delivery.wait?.resolve(id, outcome)
        return true
    }
}

/// True if an observer was removed, and the number of its handlers that run: a pure value in one word, so that an
/// atomic exchange can change it.
///
///     registered, 0 run ──begin──► registered, n run ──end──► …
///          │ cancel                     │ cancel
///          ▼                            ▼
///     cancelled, 0 run ◄──end────  cancelled, n run
///
/// A handler begins only while the observer is registered (guarantee 6). The change that makes the state cancelled with
/// no handler running happens once.
struct ObserverState: Hashable {
    var word: UInt64

    static let registered = ObserverState(word: 0)

    private static let cancelledBit: UInt64 = 1
    private static let awaitedBit: UInt64 = 2
    private static let oneHandler: UInt64 = 4

    var isCancelled: Bool { word & Self.cancelledBit != 0 }

    /// True if a thread or task waits for the handlers to return.
    var isAwaited: Bool { word & Self.awaitedBit != 0 }

    var running: Int { Int(word / Self.oneHandler) }

    /// Cancelled, and no handler runs: the handler is never called again.
    var isOver: Bool { isCancelled && running == 0 }

    /// A handler begins; nil if the observer was removed.
    var begun: ObserverState? { isCancelled ? nil : ObserverState(word: word + Self.oneHandler) }

    /// A handler has returned.
    var ended: ObserverState { ObserverState(word: word - Self.oneHandler) }

    var cancelled: ObserverState { ObserverState(word: word | Self.cancelledBit) }

    var awaited: ObserverState { ObserverState(word: word | Self.awaitedBit) }
}

/// The center, or other collection, to which an observer was added.
protocol ObserverOwner: AnyObject, Sendable {
    /// - Parameter reason: for events.
    /// - Returns: whether the observer was there.
    @discardableResult
    func remove(_ observer: Observer, _ reason: DeliveryEvent.Reason?) -> Bool
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
