internal import Foundation
internal import Synchronization

/// The number of an observer; never used again.
package typealias ObserverID = UInt64

/// One observer: what it asks for, where it handles, its state and its counters. `ObserverCall` calls its handler.
final class Observer: Sendable {
    let id: ObserverID
    let name: Notification.Name?
    let filter: ObjectFilter
    let key: ObserverRegistry<Observer>.Key
    /// The mailbox of the target thread; nil: the observer handles on the posting thread.
    let mailbox: ThreadMailbox?
    /// `mailbox` again, to compare and call it without counting a reference.
    private let uncountedMailbox: Unmanaged<ThreadMailbox>?
    /// The mailbox's queue for the common modes.
    let modeQueue = 0
    let options: ObserverOptions
    /// Where it was added.
    let location: SourceLocation
    /// True if releasing the token removes the observer. Otherwise the end of its object or of its thread does.
    let isRemovedWithToken: Bool
    /// True if the handler is a closure that is always called with the notification.
    let isSimple: Bool
    /// True if what it gets is made on the posting thread: by a transform, or a message.
    let transforms: Bool
    /// The type of the messages that the handler gets; nil: it gets no messages.
    let messageType: ObjectIdentifier?
    /// False if notifications of its name that are posted to a Foundation center are not captured for it.
    let isCaptured: Bool
    /// The life of the handler's object, if the handler is a method.
    private let objectLife: ObjectLife?
    /// Its policy for posts on its own thread; `atOnce` if it has no target thread.
    let sameThread: SameThreadPolicy
    /// True if its overflow policy limits how many notifications wait for it.
    let isBounded: Bool
    // Posting threads and the target thread write what follows; what precedes is only read.
    private let padding = CachePadding()
    /// The mailbox's chunk that retains the observer. Used with the mailbox's lock held.
    private let retainingChunk = Atomic<UInt64>(0)
    let counters = ObserverCounters()
    private let stateWord = Atomic<UInt64>(ObserverState.registered.word)
    /// The retained `ObserverHandler`; 0 after it was released. It is read only between `begin` and `end`, and released
    /// once, by the change that makes the state over.
    private let handlerWord: Atomic<UInt>

    init(
        name: Notification.Name?, object: NotificationObject, mailbox: ThreadMailbox?, options: ObserverOptions,
        handler: ObserverHandler, isRemovedWithToken: Bool, location: SourceLocation
    ) {
        var options = options
        // No post is made on a task.
        if handler.isAsync { options.sameThread = .ordered }
        precondition(
            mailbox != nil || options.sameThread != .later,
            "ObserverOptions: sameThread is .later, and .postingThread has no mailbox to wait in. Name a thread.")
        id = Recorder.nextObserver() ?? lastID.add(1, ordering: .relaxed).newValue
        self.name = name
        filter = ObjectFilter(object)
        key = ObserverRegistry.Key(name: name?.rawValue, objectHash: object.hash)
        self.mailbox = mailbox
        uncountedMailbox = mailbox.map { .passUnretained($0) }
        self.options = options
        self.location = location
        self.isRemovedWithToken = isRemovedWithToken
        isSimple = handler.isSimple
        transforms = handler.transforms
        messageType = handler.messageType
        isCaptured = handler.isCaptured
        objectLife = handler.objectLife
        sameThread = mailbox == nil ? .atOnce : options.sameThread
        isBounded = options.overflow != .unbounded
        handlerWord = Atomic(UInt(bitPattern: Unmanaged.passRetained(handler).toOpaque()))
    }

    deinit {
        // The center may be deallocated before the observer is removed.
        releaseHandler()
    }

    /// True if it handles on the calling thread, which has this context.
    @inline(__always)
    func isHere(_ context: ThreadContext) -> Bool {
        guard let uncountedMailbox else { return true }
        return context.owns(uncountedMailbox)
    }

    /// The name whose latest notification is retained for it.
    var retainedName: String? { options.receivesLatest ? name?.rawValue : nil }

    /// True if its deliveries have positions in the order of its target thread's mailbox (guarantee 4).
    @inline(__always)
    var hasPositions: Bool { sameThread != .atOnce }

    /// Calls `body` with the target thread's mailbox, without counting a reference.
    @inline(__always)
    func withMailbox<Result>(_ body: (ThreadMailbox) -> Result) -> Result? {
        uncountedMailbox?._withUnsafeGuaranteedRef(body)
    }

    /// Called with the mailbox's lock held when a delivery for the observer is appended to a chunk.
    /// - Returns: whether it is the first one, so that the chunk must retain the observer.
    @inline(__always)
    func enters(chunk: UInt64) -> Bool {
        guard retainingChunk.load(ordering: .relaxed) != chunk else { return false }
        retainingChunk.store(chunk, ordering: .relaxed)
        return true
    }

    // MARK: State

    var state: ObserverState { ObserverState(word: stateWord.load(ordering: .acquiring)) }

    var isCancelled: Bool { state.isCancelled }

    /// The address of the object, if the handler is a method.
    var receiver: UInt? { objectLife?.identifier }

    /// True if the handler is a method of an object that has been deallocated. Then the observer does not match.
    var hasLostItsObject: Bool { objectLife?.isOver == true }

    /// True if its handler was called. On the target thread.
    var wasCalled: Bool { counters.read(state).delivered > 0 }

    /// True if its handler can never be called again, although its token has not removed it.
    var isGone: Bool { hasLostItsObject || !isRemovedWithToken && mailbox?.isFinished == true }

    /// Changes the state. Returns the states before and after, or nil if there is nothing to change.
    @inline(__always)
    private func change(
        _ next: (ObserverState) -> ObserverState?
    ) -> (old: ObserverState, new: ObserverState)? {
        var old = stateWord.load(ordering: .relaxed)
        while true {
            guard let new = next(ObserverState(word: old)) else { return nil }
            let (exchanged, original) = stateWord.compareExchange(
                expected: old, desired: new.word, ordering: .acquiringAndReleasing)
            if exchanged { return (ObserverState(word: old), new) }
            old = original
        }
    }

    /// Begins a call of the handler. The caller calls `end` once for each handler that this returns.
    /// - Returns: the handler, which is not released before `end`; nil if the observer was removed.
    @inline(__always)
    func begin() -> Unmanaged<ObserverHandler>? {
        guard change({ $0.begun }) != nil else { return nil }
        return handler
    }

    /// As `begin`; counts the notification as posted and delivered.
    @inline(__always)
    func beginAtOnce() -> Unmanaged<ObserverHandler>? {
        guard let (_, new) = change({ $0.begunAtOnce }) else { return nil }
        if new.countsMany { moveManyToCounters() }
        return handler
    }

    private func moveManyToCounters() {
        if change({ $0.withoutMany }) != nil { counters.countAtOnce(ObserverState.many) }
    }

    /// Ends a call that `begin` began, also if the handler ended its thread.
    @inline(__always)
    func end() {
        guard let (_, state) = change({ $0.ended }) else { return }
        if state.isCancelled { endedWhenCancelled(state) }
    }

    private func endedWhenCancelled(_ state: ObserverState) {
        if state.isOver { releaseHandler() }
        if state.isAwaited { HandlerWaiters.handlerEnded(of: id) }
    }

    /// When it returns, no call of the handler begins.
    /// - Returns: the number of calls that run.
    @discardableResult
    func cancel() -> Int {
        guard let (_, new) = change({ $0.isCancelled ? nil : $0.cancelled }) else { return state.running }
        if new.isOver { releaseHandler() }
        mailbox?.observerWasCancelled(id)
        DeliveryWait.observerWasCancelled(id)
        return new.running
    }

    /// Waits until no call of this cancelled observer's handler runs on another thread.
    func waitUntilHandlersReturned(timeout: Duration, at location: SourceLocation) throws(DeliveryError) {
        let own = ThreadContext.current.handlersUnderWay(of: self) + ownAsyncCalls
        guard state.running > own, mailbox?.isOfParent != true else { return }
        let ended = MonotonicSemaphore()
        HandlerWaiters.add(ended, for: id)
        defer { HandlerWaiters.remove(ended, for: id) }
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
            HandlerWaiters.add(ended, for: id)
            defer { HandlerWaiters.remove(ended, for: id) }
            // From now on the next handler that returns ends the wait.
            guard state.running > own else { return }
            try await ended.wait(until: deadline, orThrow: .handlerStillRunning(observer: id, after: timeout))
        }
    }

    /// 1 in its own async handler.
    private var ownAsyncCalls: Int {
        guard let drain = mailbox?.taskDrain else { return 0 }
        return drain.isInCurrentTask && drain.isCalling ? 1 : 0
    }

    @inline(__always)
    private var handler: Unmanaged<ObserverHandler>? {
        UnsafeRawPointer(bitPattern: handlerWord.load(ordering: .relaxed)).map { .fromOpaque($0) }
    }

    private func releaseHandler() {
        guard let handler, handlerWord.exchange(0, ordering: .relaxed) != 0 else { return }
        if let mailbox, handler._withUnsafeGuaranteedRef(\.isThreadBound) {
            mailbox.release(.handler(handler))
        } else {
            handler.release()
        }
    }
}

private let lastID = Atomic<ObserverID>(0)
