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
    /// The same, for posts: to count references to it costs more than to append.
    private let mailboxReference: Unmanaged<ThreadMailbox>?
    /// Which lane of the mailbox: its run loop modes.
    let lane: Int
    let options: ObserverOptions
    /// Whether its token's going removes it; else its object's or its thread's going does.
    let isKeptByToken: Bool
    /// Whether its handler is called with the notification, whatever else may be.
    private let isSimple: Bool
    let isMapped: Bool
    /// Of the object whose method is the handler.
    private let objectLife: ObjectLife?
    /// Whether it has a thread, and there its turn.
    let isInOrder: Bool
    /// Whether its policy bounds how much waits for it.
    let isBounded: Bool
    // So that what posters and the target thread write is not in the memory of what both only read, or of each other.
    private let apart = Apart()
    // Safety: touched with the mailbox's lock held.
    @exclusivity(unchecked) private nonisolated(unsafe) var knownChunk: UInt64 = 0
    let ledger = DeliveryLedger()
    private let life = Atomic<UInt64>(ObserverLife.registered.word)

    // Safety: set once before the registration is shared. It is read only between `begin` and `end`, and let go of once, by
    // whoever makes the life over: that is after every `end`, and before no `begin`.
    @exclusivity(unchecked) private nonisolated(unsafe) var handler: Unmanaged<NotificationHandler>?

    init(
        name: Notification.Name?, object: NotificationObject, mailbox: ThreadMailbox?, options: ObserverOptions,
        handler: NotificationHandler.Kind, isKeptByToken: Bool
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
        mailboxReference = mailbox.map { .passUnretained($0) }
        lane = mailbox?.lane(for: options.modes) ?? 0
        self.options = options
        self.isKeptByToken = isKeptByToken
        let handler = NotificationHandler(handler)
        isSimple = handler.isSimple
        isMapped = handler.isMapped
        if case .threadBound(let bound) = handler.kind { objectLife = bound.objectLife } else { objectLife = nil }
        isInOrder = mailbox != nil && options.sameThread == .ordered
        isBounded = options.overflow != .unbounded
        self.handler = .passRetained(handler)
    }

    deinit {
        // Its center went before it was removed.
        releaseHandler()
    }

    // MARK: Life

    var isCancelled: Bool { ObserverLife(word: life.load(ordering: .acquiring)).isCancelled }

    /// Whether the object whose method is the handler has been deallocated, which removes the observer.
    var hasLostItsObject: Bool { objectLife?.isOver == true }

    /// Whether it can never be called again, although its token has not removed it.
    var isGone: Bool { hasLostItsObject || !isKeptByToken && mailbox?.isFinished == true }

    /// What became of what was posted for it.
    var counters: DeliveryCounters { ledger.counters(ObserverLife(word: life.load(ordering: .acquiring))) }

    /// Makes a change to its life. Returns the lives before and after, or nil if there is nothing to change.
    @inline(__always)
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

    @inline(__always)
    private func begin() -> Bool {
        change { $0.begun } != nil
    }

    /// As `begin`, and counts it as posted and delivered.
    @inline(__always)
    private func beginAtOnce() -> Bool {
        guard let (_, new) = change({ $0.begunAtOnce }) else { return false }
        if new.countsMany { countMany() }
        return true
    }

    private func countMany() {
        if change({ $0.withoutMany }) != nil { ledger.countAtOnce(ObserverLife.many) }
    }

    /// Called as often as `begin` succeeded; also for a handler that ended its thread.
    @inline(__always)
    func end() {
        guard let (_, life) = change({ $0.ended }) else { return }
        if life.isCancelled { endedWhenCancelled(life) }
    }

    private func endedWhenCancelled(_ life: ObserverLife) {
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
    func waitUntilHandlersReturned(timeout: Duration, at place: SourceLocation) throws(DeliveryError) {
        let own = ThreadContext.current.handlersUnderWay(of: self)
        func othersRun() -> Bool { ObserverLife(word: life.load(ordering: .acquiring)).running > own }
        guard othersRun() else { return }
        let id = id
        let ended = MonotonicSemaphore()
        HandlerWaiters.add(ended, for: id)
        defer { HandlerWaiters.remove(ended, for: id) }
        _ = change { $0.awaited }
        let thread = mailbox.map { " on \($0.description)" } ?? ""
        let wait = try ThreadWaits.begin(
            for: [.observer(id)], waitsFor: "the handler of observer \(id)\(thread) to return", at: place)
        defer { ThreadWaits.end(wait) }
        let deadline = ContinuousClock.Instant.after(timeout)
        while othersRun() {
            guard ended.wait(until: deadline) else {
                throw .handlerStillRunning(observer: id, after: timeout)
            }
        }
    }

    private func releaseHandler() {
        guard let taken = handler else { return }
        handler = nil
        // What is bound to a thread may be released on that thread only, so no reference is left here by then.
        if let mailbox, taken._withUnsafeGuaranteedRef(\.isThreadBound) {
            mailbox.release(taken)
        } else {
            taken.release()
        }
    }

    // MARK: Delivery

    /// Whether it handles on the calling thread, which has this context.
    @inline(__always)
    func isHere(_ context: ThreadContext) -> Bool {
        guard let mailboxReference else { return true }
        return context.owns(mailboxReference)
    }

    /// Has the mailbox's chunk that was appended to last keep it, with the mailbox's lock held.
    @inline(__always)
    func keep(in pending: inout ThreadMailbox.Pending) {
        pending.keep(self, lane: lane, known: &knownChunk)
    }

    /// Called on the posting thread, which has this context.
    @inline(__always)
    func post(_ notification: Notification, _ posted: PostedNotification, _ context: ThreadContext) -> DeliveryOutcome?
    {
        if let mailboxReference {
            return mailboxReference._withUnsafeGuaranteedRef { $0.post(notification, posted, for: self, context) }
        }
        return deliverAtOnce(notification, posted, context)
    }

    /// Delivers in the middle of what the calling thread does, before `post` returns.
    @inline(__always)
    func deliverAtOnce(
        _ notification: Notification, _ posted: PostedNotification, _ context: ThreadContext, overtakes: Bool = false
    ) -> DeliveryOutcome? {
        context.nest(notification.name.rawValue) {
            guard isSimple else { return deliverNotSimply(notification, posted, context, overtakes) }
            guard beginAtOnce() else { return skip(notification, posted, .cancelled) }
            run(posted.wait, context) {
                handler?._withUnsafeGuaranteedRef { handler in
                    callHandler(notification.name, posted.number, isAtOnce: true, overtakes) {
                        handler.handle(notification)
                    }
                }
            }
            return .delivered
        }
    }

    /// For a handler that may not be called after all: its own mapping may have removed it, or its object may have been
    /// deallocated.
    private func deliverNotSimply(
        _ notification: Notification, _ posted: PostedNotification, _ context: ThreadContext, _ overtakes: Bool
    ) -> DeliveryOutcome? {
        guard begin(), let handler else { return skip(notification, posted, .cancelled) }
        let outcome = run(posted.wait, context) { callNotSimply(handler, with: notification, posted, overtakes) }
        if outcome == .delivered { return outcome }
        return skip(notification, posted, outcome)
    }

    /// When it returns, the handler's object is retained here no longer.
    @inline(never)
    private func callNotSimply(
        _ handler: Unmanaged<NotificationHandler>, with notification: Notification, _ posted: PostedNotification,
        _ overtakes: Bool
    ) -> DeliveryOutcome? {
        func call(_ handle: () -> Void) {
            ledger.countAtOnce(1)
            callHandler(notification.name, posted.number, isAtOnce: true, overtakes, handle)
        }
        switch handler.takeUnretainedValue().kind {
        case .value(let map, let handle):
            guard let value = map(notification) else { return nil }
            if isCancelled { return .cancelled }
            call { handle(value) }
        case .threadBound(let bound):
            guard let handle = bound.handle else { return .cancelled }
            call { handle(notification) }
        case .notification(let handle):
            call { handle(notification) }
        }
        return .delivered
    }

    /// Delivers what waited for the calling thread, unless the observer was removed.
    @inline(__always)
    func deliver(_ item: MailboxItem, _ context: ThreadContext) {
        item.wait?.deliveryBegins(to: id)
        guard begin(), let handler else { return resolve(.cancelled, item) }
        let isCalled = run(item.wait, context) {
            guard isSimple else { return callNotSimply(handler, with: item) }
            ledger.countDelivered()
            handler._withUnsafeGuaranteedRef { handler in
                callHandler(item.notification.name, item.post, isAtOnce: false) { handler.handle(item.notification) }
            }
            return true
        }
        // The handler and its object are released before the poster, if it waits, goes on.
        if isCalled { item.wait?.resolve(id, .delivered) } else { resolve(.cancelled, item) }
    }

    /// When it returns, the handler's object is retained here no longer.
    /// - Returns: false if its object has been deallocated.
    @inline(never)
    private func callNotSimply(_ handler: Unmanaged<NotificationHandler>, with item: MailboxItem) -> Bool {
        func call(_ handle: () -> Void) {
            ledger.countDelivered()
            callHandler(item.notification.name, item.post, isAtOnce: false, false, handle)
        }
        switch handler.takeUnretainedValue().kind {
        case .value(_, let handle):
            // For an observer that maps, the mailbox has the value as the notification's object.
            guard let value = item.notification.object else { return false }
            call { handle(value) }
        case .threadBound(let bound):
            guard let handle = bound.handle else {
                cancel()
                return false
            }
            call { handle(item.notification) }
        case .notification(let handle):
            call { handle(item.notification) }
        }
        return true
    }

    /// Runs what began: the handler, or the mapping. It counts as running until all that `body` retained is released, so
    /// that a `deinit` may wait and end the thread as a handler may. `end` comes last.
    @inline(__always)
    private func run<Result>(_ wait: DeliveryWait?, _ context: ThreadContext, _ body: () -> Result) -> Result {
        context.handlersUnderWay.begin(self, wait)
        let result = body()
        context.handlersUnderWay.end()
        end()
        return result
    }

    @inline(__always)
    private func callHandler(
        _ name: Notification.Name, _ post: UInt64, isAtOnce: Bool, _ overtakes: Bool = false, _ handle: () -> Void
    ) {
        // Looked at once for both stages, and told apart from the rest: it is what tracing costs who does not trace. What is delivered
        // before `post` returns has a number if that was traced.
        if post != 0 || !isAtOnce && DeliveryEvent.isWatched { trace(name, post, overtakes, handle) } else { handle() }
    }

    @inline(never)
    private func trace(_ name: Notification.Name, _ post: UInt64, _ overtakes: Bool, _ handle: () -> Void) {
        DeliveryEvent.trace(
            .deliver, name: name, post: post, observer: id, target: mailbox?.identity, overtakes: overtakes)
        handle()
        DeliveryEvent.trace(.return, name: name, post: post, observer: id)
    }

    /// What its mapping makes of a notification, on the posting thread; it is handled on another, or later.
    func mapped(
        _ notification: Notification, _ posted: PostedNotification, _ context: ThreadContext
    ) -> Result<any Sendable, Unprepared> {
        guard begin(), let handler, case .value(let map, _) = handler.takeUnretainedValue().kind else {
            return .failure(Unprepared(outcome: skip(notification, posted, .cancelled)))
        }
        guard let value = run(nil, context, { map(notification) }) else {
            return .failure(Unprepared(outcome: skip(notification, posted, nil)))
        }
        return .success(value)
    }

    /// Why a notification is no delivery to this observer.
    struct Unprepared: Error {
        /// `cancelled`, or nil: its transform returned nil.
        var outcome: DeliveryOutcome?
    }

    private func skip(
        _ notification: Notification, _ posted: PostedNotification, _ outcome: DeliveryOutcome?
    ) -> DeliveryOutcome? {
        DeliveryEvent.trace(
            .skip, name: notification.name, post: posted.number, observer: id, target: mailbox?.identity)
        posted.wait?.resolve(id, .cancelled)
        return outcome
    }

    /// A notification for this observer has an outcome other than its handler.
    /// - Parameter other: the post that stands for it, if it is coalesced.
    func resolve(_ outcome: DeliveryOutcome, _ item: MailboxItem, for other: UInt64 = 0) {
        resolve(outcome, item.notification.name, post: item.post, wait: item.wait, for: other)
    }

    func resolve(
        _ outcome: DeliveryOutcome, _ name: Notification.Name, post: UInt64, wait: DeliveryWait?, for other: UInt64 = 0
    ) {
        ledger.count(outcome)
        let stage: DeliveryEvent.Stage =
            switch outcome {
            case .delivered: .deliver
            case .coalesced: .coalesce
            case .dropped, .refused: .drop
            case .cancelled: .cancel
            case .targetGone: .targetGone
            case .waiting: .append
            }
        DeliveryEvent.trace(
            stage, name: name, post: post, observer: id, target: mailbox?.identity,
            relatedPost: other, message: stage == .drop ? options.overflow.name : nil)
        wait?.resolve(id, outcome)
    }
}

private let lastID = Atomic<ObserverID>(0)
