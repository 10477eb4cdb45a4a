internal import Foundation
internal import Glibc
internal import Synchronization

/// This package's state of one thread, in that thread's own storage.
///
/// Threads: only the thread itself can get it, with `current` or `withCurrent`, so it has no lock. It is not
/// `Sendable`.
final class ThreadContext {
    let isMain: Bool
    var identity: ThreadIdentity?

    // MARK: Deliveries that wait or run

    /// The queue of the thread. A thread that does not serve it has it for the order of its own posts.
    private(set) var mailbox: Mailbox
    /// The deliveries that were taken from the mailbox.
    @exclusivity(unchecked) var taken = TakenDeliveries()
    /// The posts under way on this thread, each nested in the one before.
    @exclusivity(unchecked) var cursors: [Cursor] = []
    /// The handlers and blocks that run, each nested in the one before: the observer, or nil for a block, and the wait.
    /// They are not only on the stack: a handler may call `Thread.exit()`, which discards its stack, and the end of the
    /// thread must still settle what ran. The queue or the cursor that has the delivery retains the observer, or else
    /// the third element.
    @exclusivity(unchecked) var underWay: [(observer: Unmanaged<Observer>?, wait: DeliveryWait?, retained: Observer?)] =
        []
    /// The number of drains under way, each nested in the one before.
    @exclusivity(unchecked) var drainDepth = 0
    /// The number of other calls of handlers under way, such as those of posting queues.
    var otherDepth = 0
    /// Tells a drain of the run loop that the run is over: see `MainRunLoop`.
    var mustEndRun: (() -> Bool)?
    /// When the drain of another main loop that is under way should end, in nanoseconds; 0: there is none.
    var drainDeadline: UInt64 = 0
    var jobs = ActorJobs()
    /// How a `RunLoopThread` sleeps; nil: in its run loop.
    var sleep: EventSignal.Sleep?
    private var hasBegun = false
    private var isAttached = false

    // MARK: Other things of the thread

    /// The thread object of a running `RunLoopThread`.
    var keepsAlive: RunLoopThread?
    /// The ended thread for which this thread runs late jobs now.
    var standsInFor: RunLoopThread?
    /// The notification that a posting queue is posting to a center of another type.
    var queuedPost: (name: Notification.Name, number: UInt64)?
    var found = FoundObservers()
    var messageName: (type: ObjectIdentifier, name: MessageName)?
    private var destructorRounds = 0

    private init(isMain: Bool) {
        self.isMain = isMain
        mailbox = isMain ? .main : Mailbox()
        (hasBegun, isAttached) = (isMain, isMain)
    }

    // MARK: The calling thread's context

    static var current: ThreadContext { unretained.takeUnretainedValue() }

    /// Calls `body` with the calling thread's context. It is not retained: it lives as long as the thread, and a
    /// handler may end the thread.
    @inline(__always)
    static func withCurrent<Result>(_ body: (ThreadContext) -> Result) -> Result {
        unretained._withUnsafeGuaranteedRef(body)
    }

    /// As `withCurrent`, for several calls.
    static var unretained: Unmanaged<ThreadContext> {
        if let stored = pthread_getspecific(key) { return Unmanaged<ThreadContext>.fromOpaque(stored) }
        return makeStored()
    }

    @inline(never)
    private static func makeStored() -> Unmanaged<ThreadContext> {
        let isMain = SystemThread.currentIsMain
        if isMain { mainIsKnown.store(true, ordering: .releasing) }
        let context = Unmanaged.passRetained(ThreadContext(isMain: isMain))
        pthread_setspecific(key, context.toOpaque())
        return context
    }

    /// The calling thread's context; nil if it has none.
    static var existing: ThreadContext? {
        pthread_getspecific(key).map { Unmanaged<ThreadContext>.fromOpaque($0).takeUnretainedValue() }
    }

    /// True if the main thread has, or had, a context.
    static var isMainKnown: Bool { mainIsKnown.load(ordering: .acquiring) }

    private static let key: pthread_key_t = {
        var new = pthread_key_t()
        let result = pthread_key_create(&new) { stored in
            guard let stored else { return }
            let context = Unmanaged<ThreadContext>.fromOpaque(stored)
            let round = context.takeUnretainedValue().beginDestructorRound()
            // Destructors of other libraries may still need the context: CoreFoundation ends the run loop in the last
            // round but one. The thread sanitizer uses the last round.
            if round < PTHREAD_DESTRUCTOR_ITERATIONS - 1 {
                pthread_setspecific(ThreadContext.key, stored)
                if round == 1 { context.takeUnretainedValue().threadEnds() }
            } else {
                context.release()
            }
        }
        precondition(result == 0, "ThreadContext: the process has no thread-specific key left (error \(result))")
        return new
    }()

    private func beginDestructorRound() -> Int {
        destructorRounds += 1
        return destructorRounds
    }

    // MARK: The mailbox

    /// Makes a mailbox the thread's, before anything waits in another one.
    func adopt(_ mailbox: Mailbox) { self.mailbox = mailbox }

    /// Lets other threads know the thread and its run loop.
    func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        mailbox.begin(.current, .current)
    }

    /// Lets the thread's run loop serve its mailbox, and so have something to wait for.
    /// - Parameter signal: wakes the thread.
    func attach(_ signal: @autoclosure () -> any ThreadSignal = RunLoopSignal(.current)) {
        guard !isAttached else { return }
        begin()
        isAttached = true
        mailbox.serve(signal())
    }

    /// True if the thread must go on draining.
    var hasWork: Bool {
        !taken.isEmpty || cursors.contains(where: \.holdsOrder)
            || mailbox.state.withLock { !$0.pending.isEmpty || !$0.toRelease.isEmpty }
    }

    /// Called when a run of the run loop begins, and when a drain stops before its end.
    func signalIfWorkIsLeft() {
        guard hasWork, let signal = mailbox.state.withLock({ $0.signal }) else { return }
        DeliveryEvent.trace(.signal, target: identity)
        signal.send()
    }

    // MARK: Handlers and blocks that run

    /// The observers of the handlers that run, the innermost last.
    var observersUnderWay: [ObserverID] { underWay.compactMap { $0.observer?.takeUnretainedValue().id } }

    /// Retains the observers of the handlers that run. A drain that is nested in them takes the next batch, and the
    /// queue no longer retains those of the last one.
    func retainObserversUnderWay() {
        var index = underWay.count - 1
        while index >= 0, underWay[index].retained == nil {
            underWay[index].retained = underWay[index].observer?.takeUnretainedValue()
            index -= 1
        }
    }

    /// Performs a block that was enqueued for this thread.
    func perform(_ block: () -> Void, post: UInt64, wait: DeliveryWait?) {
        underWay.append((nil, wait, nil))
        DeliveryEvent.trace(.deliver, post: post)
        block()
        DeliveryEvent.trace(.return, post: post)
        underWay.removeLast()
        wait?.resolve(0, .delivered)
    }

    // MARK: The end of the thread

    private func threadEnds() {
        // Handlers are under way if one called `Thread.exit()`: they will not return.
        while let last = underWay.popLast() {
            let observer = last.observer?.takeUnretainedValue()
            observer?.end()
            last.wait?.resolve(observer?.id ?? 0, .targetGone)
            withExtendedLifetime(last.retained) {}
        }
        Waits.endAll()
        found = FoundObservers()
        let lost = endMailbox()
        (sleep, keepsAlive) = (nil, nil)
        // Last, because an end observer is promised that the thread has released everything.
        mailbox.reportEnd(lost)
        if identity != nil { DeliveryEvent.trace(.threadEnd) }
    }

    /// The thread delivers nothing more: settles what waits for it. Only the first call has an effect.
    @discardableResult
    func endMailbox() -> LostDeliveries {
        var lost = lostDeliveries ?? LostDeliveries()
        if !hasEnded {
            lostDeliveries = lost
            while var cursor = cursors.popLast() {
                while let (observer, payload, _) = cursor.takeNext(self) {
                    let delivery = Delivery(.payload(payload.takeUnretainedValue()), post: cursor.post)
                    observer._withUnsafeGuaranteedRef { observer in
                        observer.counters.posted.add(1, ordering: .relaxed)
                        observer.settle(delivery, .targetGone)
                    }
                    lost.notifications += 1
                }
            }
            var rest = TakenDeliveries()
            swap(&rest, &taken)
            if let others = mailbox.end(rest, postponed: jobs.takePostponed()) {
                lost.notifications += others.notifications
                lost.blocks += others.blocks
                lost.queuedNotifications += others.queuedNotifications
            }
        }
        lostDeliveries = lost
        return lost
    }

    /// Nil before the end.
    private var lostDeliveries: LostDeliveries?
    var hasEnded: Bool { lostDeliveries != nil }

    // MARK: A copy of the process

    /// This thread goes on in a copy of the process, where the kernel gave it another id.
    func threadWasCopied(_ generation: Int) {
        if let known = identity ?? mailbox.state.valueWhileLocked.identity {
            identity = ThreadIdentity(
                number: known.number, name: known.name, kernelID: SystemThread.currentKernelID)
        }
        // Without the lock, because nobody else uses it, and a thread of the parent may have held it.
        mailbox.state.valueWhileLocked.threadWasCopied(generation, identity)
    }
}

private let mainIsKnown = Atomic(false)
