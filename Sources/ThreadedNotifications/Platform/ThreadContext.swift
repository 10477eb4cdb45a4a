internal import Foundation

/// What this package knows of one thread. Only that thread touches it, so it has no lock.
final class ThreadContext {
    let isMain: Bool
    var identity: ThreadIdentity? {
        didSet { knownNumber = identity?.number ?? 0 }
    }
    /// The handlers and blocks that run on this thread.
    @exclusivity(unchecked) var handlersUnderWay = HandlersUnderWay()
    /// What posts on this thread found.
    let lookups = ObserverLookups()
    /// Posts what waits in this thread's posting queues; nil before the first use. See `ThreadPostings.poster`.
    var poster: QueuePoster?
    /// Lives until the thread ends.
    var keepsAlive: RunLoopThread?
    /// The ended thread whose late jobs this thread runs at the moment.
    var standsInFor: RunLoopThread?

    /// What a posting queue posts at the moment to a center that knows nothing of its numbers.
    private var queuedPost: (name: Notification.Name, number: UInt64)?
    /// How many of them began in the middle of one another, and not in their turn.
    @exclusivity(unchecked) private var nested = 0
    private var attachedMailbox: ThreadMailbox?
    /// The same, to be compared without counting references.
    @exclusivity(unchecked) private var attachedReference: Unmanaged<ThreadMailbox>?
    private var destructorRounds = 0
    private var knownNumber = 0
    /// Memory to put a line together in.
    private var scratch: UnsafeMutableBufferPointer<UInt8>?

    init(isMain: Bool) {
        self.isMain = isMain
    }

    deinit {
        handlersUnderWay.deallocate()
        scratch?.deallocate()
    }

    /// `ThreadIdentity.number`.
    var number: Int { knownNumber != 0 ? knownNumber : ThreadIdentity.current.number }

    /// Memory that is this thread's until it asks again.
    func scratch(atLeast capacity: Int) -> UnsafeMutablePointer<UInt8> {
        if let start = scratch?.baseAddress, scratch!.count >= capacity { return start }
        scratch?.deallocate()
        let new = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(2048, capacity))
        scratch = new
        return new.baseAddress!
    }

    static var current: ThreadContext { SystemThread.currentContext.takeUnretainedValue() }

    /// Calls `body` with the calling thread's. It is not retained: it lives as long as the thread runs.
    @inline(__always)
    static func withCurrent<Result>(_ body: (ThreadContext) -> Result) -> Result {
        SystemThread.currentContext._withUnsafeGuaranteedRef(body)
    }

    /// The thread's mailbox, if it has one.
    var mailbox: ThreadMailbox? { attachedMailbox ?? (isMain ? ThreadMailbox.main : nil) }

    /// Whether a mailbox is the thread's.
    @inline(__always)
    func owns(_ mailbox: Unmanaged<ThreadMailbox>) -> Bool {
        if let attachedReference { return attachedReference.toOpaque() == mailbox.toOpaque() }
        return isMain && mailbox._withUnsafeGuaranteedRef(\.isMain)
    }

    /// The thread's mailbox, made if it has none yet.
    /// - Parameter isServed: whether its run loop shall serve it, and so have something to wait for.
    func attachedMailboxOrNew(isServed: Bool = true) -> ThreadMailbox {
        if let mailbox {
            if isServed { mailbox.serve() }
            return mailbox
        }
        let mailbox = ThreadMailbox(threadName: nil)
        attach(mailbox, isServed: isServed)
        return mailbox
    }

    var observersUnderWay: [ObserverID] { handlersUnderWay.registrations.map(\.id) }

    func handlersUnderWay(of registration: Registration) -> Int {
        handlersUnderWay.registrations.count { $0 === registration }
    }

    /// Whether one more may begin in the middle of what this thread does; else it waits its turn, before the stack runs out.
    var mayNest: Bool { nested < 100 }

    /// Lets a handler or block begin in the middle of what this thread does.
    @inline(__always)
    func nest<Result>(_ what: @autoclosure () -> String, _ body: () -> Result) -> Result {
        if nested >= 250 { Self.isTooDeep(what()) }
        nested += 1
        defer { nested -= 1 }
        return body()
    }

    @inline(never)
    private static func isTooDeep(_ what: String) -> Never {
        preconditionFailure(
            """
            ThreadedNotifications: \(what) comes from its own handler, 250 deep, and the stack would run out. Observe on a \
            thread (on: .current), in its order and without waiting: there it waits its turn.
            """)
    }

    /// Notes what a posting queue posts while it does.
    func postingFromQueue(_ name: Notification.Name, _ number: UInt64, _ body: () -> Void) {
        let outer = queuedPost
        queuedPost = (name, number)
        body()
        queuedPost = outer
    }

    /// Which post of a queue a notification of this name is a part of, if it was captured; 0: none.
    func queuedPost(of name: Notification.Name) -> UInt64 {
        queuedPost.map { $0.name == name ? $0.number : 0 } ?? 0
    }

    /// Performs a block that was handed over to this thread.
    func perform(_ block: () -> Void, post: UInt64, wait: DeliveryWait?) {
        handlersUnderWay.begin(nil, wait)
        DeliveryEvent.trace(.deliver, post: post)
        block()
        DeliveryEvent.trace(.return, post: post)
        handlersUnderWay.end()
        wait?.resolve(0, .delivered)
    }

    /// Makes a mailbox this thread's own.
    func attach(_ mailbox: ThreadMailbox, isServed: Bool = true) {
        attachedMailbox = mailbox
        attachedReference = .passUnretained(mailbox)
        mailbox.attach(to: .current, of: .current, isServed: isServed)
    }

    /// Called by the system when the thread ends, several times.
    /// - Returns: how often it was called.
    func beginDestructorRound() -> Int {
        destructorRounds += 1
        return destructorRounds
    }

    func threadEnds() {
        // There are some if a handler called `Thread.exit()`: they have not returned, but they run no more.
        while let (registration, wait) = handlersUnderWay.removeInnermost() {
            registration?.end()
            wait?.resolve(registration?.id ?? 0, .targetGone)
        }
        lookups.removeAll()
        ThreadWaits.endAll()
        // The main thread ends before the process if its main function is async: nothing is delivered there any more.
        mailbox?.finish()
        poster = nil
        keepsAlive = nil
        if identity != nil { DeliveryEvent.trace(.threadEnd) }
    }
}
