/// Something beside the mailbox that a thread has, such as its posting queues. The core knows them only by this
/// protocol; `ServedThread.service(_:)` makes them.
package protocol ThreadService: AnyObject, Sendable {
    init(of thread: ServedThread)

    /// True if something waits until the run loop is idle, in its current mode. Called on the thread.
    var hasWork: Bool { get }

    /// The thread has delivered something when its run loop was about to wait. Called on the thread.
    func drainEnded()

    /// The thread ends, or will never start. Called once: on the thread, or on the one that stopped it before it
    /// started.
    /// - Returns: how many notifications are lost: `targetGone` with this reason.
    func threadEnds(_ reason: DeliveryEvent.Reason?) -> Int
}

/// A thread as its services know it: its mailbox, its run loop, and the event on which it sleeps. Static members are
/// about the calling thread; the others may be used on any thread.
package struct ServedThread: Sendable {
    private let mailbox: Mailbox

    private init(_ mailbox: Mailbox) { self.mailbox = mailbox }

    /// The calling thread.
    /// - Parameter isServed: whether its run loop has something to wait for from now on, as if it had an observer.
    package static func current(isServed: Bool) -> ServedThread {
        ThreadContext.withCurrent { context in
            if isServed { context.attach() } else { context.begin() }
            return ServedThread(context.mailbox)
        }
    }

    /// The thread of a target. `.postingThread` is the calling thread, which is not served because of this.
    package init(of target: some DeliveryTarget) {
        self = target.targetThread.mailbox.map { ServedThread($0) } ?? .current(isServed: false)
    }

    package var isCurrent: Bool { mailbox.isCurrent }
    package var identity: ThreadIdentity? { mailbox.identity }
    package var isOpen: Bool { mailbox.isOpen }
    package var isOfParent: Bool { mailbox.isOfParent }
    package func noteLoss() -> DeliveryEvent.Reason? { mailbox.noteLoss() }

    /// Nil before the thread has started, and after it has ended.
    package var runLoop: RunLoopReference? { mailbox.state.withLock { $0.runLoop } }

    /// Calls `body` with the thread's run loop: now, or when it starts, unless the thread ends before.
    package func whenAttached(_ body: @escaping @Sendable (RunLoopReference) -> Void) {
        let runLoop = mailbox.state.withLock { state in
            if state.phase == .unstarted { state.whenBegun.append(body) }
            return state.runLoop
        }
        if let runLoop { body(runLoop) }
    }

    /// The thread's service of a type, which is made if there is none. It is kept until the thread ends. If the thread
    /// has ended, each call makes one and tells it.
    package func service<Service: ThreadService>(_ type: Service.Type) -> Service {
        let id = ObjectIdentifier(type)
        if let known = mailbox.state.withLock({ $0.services[id] }) as? Service { return known }
        let new = Service(of: self)
        let kept: (any ThreadService)? = mailbox.state.withLock { state in
            if state.phase == .ending || state.phase == .ended { return nil }
            if state.services[id] == nil { state.services[id] = new }
            return state.services[id]
        }
        if let kept = kept as? Service { return kept }
        _ = new.threadEnds(mailbox.reasonItIsGone)
        return new
    }

    /// True if something waits that the run loop serves in its current mode, also if a drain has taken it.
    package var hasWork: Bool {
        ThreadContext.withCurrent(\.hasWork) && mailbox.state.withLock { $0.ownSignal }?.isServedNow == true
    }

    package var servicesHaveWork: Bool { mailbox.state.withLock { $0.services }.values.contains(where: \.hasWork) }

    /// Delivers what waits, as far as the budget and `drainDeadline` allow. Nothing is retained meanwhile, because a
    /// handler may end the thread.
    package static func drain() { ThreadContext.withCurrent { Drain.run($0) } }

    /// When each drain should end, in nanoseconds of the monotonic clock; 0: there is no time.
    package static var drainDeadline: UInt64 {
        get { ThreadContext.withCurrent { $0.drainDeadline } }
        set { ThreadContext.withCurrent { $0.drainDeadline = newValue } }
    }

    /// The event that is made ready when something waits in the mailbox: that on which a `RunLoopThread` sleeps. Nil: a
    /// source of the run loop is signalled.
    package var event: EventDescriptor? { mailbox.state.withLock { ($0.signal as? EventSignal)?.event } }

    /// Lets an event wake the thread, instead of a source of the run loop; nil: the source again. If `old` is not the
    /// present one, the call has no effect.
    package func replaceEvent(_ old: EventDescriptor?, with new: EventDescriptor?) {
        mailbox.state.withLock { state -> (any ThreadSignal)? in
            guard (state.signal as? EventSignal)?.event === old else { return nil }
            return state.replaceSignal(new.map { EventSignal($0) })
        }?.send()
    }

    /// True if another handler may begin at once. Otherwise it waits, before the stack overflows.
    package static var mayNest: Bool { ThreadContext.withCurrent(\.mayNest) }

    /// Calls handlers in the middle of other work.
    /// - Parameter description: of what is posted, for the error if the stack would overflow.
    package static func nest(_ description: @autoclosure () -> String, _ body: () -> Void) {
        ThreadContext.withCurrent { $0.nest(description(), body) }
    }
}
