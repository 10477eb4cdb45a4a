internal import Foundation
internal import Glibc
internal import Synchronization

/// This package's state of one thread, in that thread's own storage.
///
/// Threads: only the thread itself can get it, with `current` or `withCurrent`, so it has no lock. It is not
/// `Sendable`.
final class ThreadContext {
    let isMain: Bool
    var identity: ThreadIdentity? {
        didSet { recorded = identity.map(RecordedThread.init) }
    }
    /// `identity` as a recorder takes it; nil before its first use.
    private(set) var recorded: RecordedThread?
    /// The observers that posts on this thread found.
    let cache = ObserverCache()
    /// The names of the message types that this thread posted.
    let messageNames = MessageNameCache()
    /// The thread object of a running `RunLoopThread`.
    var keepsAlive: RunLoopThread?
    /// The ended thread for which this thread runs late jobs now.
    var standsInFor: RunLoopThread?

    var boundValues = BoundValues()
    /// The time that this thread may watch for the end of a wait before it sleeps.
    var waitBudget = SpinBudget()

    private let drainStateValue = ThreadConfined(DrainState())
    private let handlers = ThreadConfined(HandlersUnderWay())
    /// The number of handlers and blocks that began at once, in the middle of other work.
    private let nested = ThreadConfined(0)
    private var attachedMailbox: ThreadMailbox?
    /// `attachedMailbox` again, to compare it without counting a reference.
    private let uncountedMailbox = ThreadConfined<Unmanaged<ThreadMailbox>?>(nil)
    /// The notification that a posting queue is posting to a center of another type.
    var queuedPost: (name: Notification.Name, number: UInt64)?
    /// See `runLoopMember(of:)`.
    private var probe: (descriptor: EventDescriptor, source: DescriptorSource)?
    private var destructorRounds = 0
    private var scratch: UnsafeMutableBufferPointer<UInt8>?

    init(isMain: Bool) {
        self.isMain = isMain
    }

    deinit {
        handlersUnderWay.deallocate()
        handlers.deallocate()
        drainStateValue.deallocate()
        nested.deallocate()
        uncountedMailbox.deallocate()
        scratch?.deallocate()
    }

    // MARK: The calling thread's context

    static var current: ThreadContext { stored.takeUnretainedValue() }

    /// Calls `body` with the calling thread's context. It is not retained: it lives as long as the thread runs.
    @inline(__always)
    static func withCurrent<Result>(_ body: (ThreadContext) -> Result) -> Result {
        stored._withUnsafeGuaranteedRef(body)
    }

    @inline(__always)
    private static var stored: Unmanaged<ThreadContext> {
        if let stored = pthread_getspecific(key) { return Unmanaged<ThreadContext>.fromOpaque(stored) }
        return makeStored()
    }

    @inline(never)
    private static func makeStored() -> Unmanaged<ThreadContext> {
        let isMain = SystemThread.currentIsMain
        let context = Unmanaged.passRetained(ThreadContext(isMain: isMain))
        pthread_setspecific(key, context.toOpaque())
        if isMain { mainIsKnown.store(true, ordering: .releasing) }
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

    private func threadEnds() {
        // Handlers are under way if one called `Thread.exit()`: they will not return.
        while let (observer, wait) = handlersUnderWay.removeInnermost() {
            observer?.end()
            wait?.resolve(observer?.id ?? 0, .targetGone)
        }
        ThreadWaits.endAll()
        // If the main function is async, the main thread ends before the process, and nothing more is delivered there.
        mailbox?.finish()
        // After that, because a post that a handler did not return to has its observers in the cache.
        cache.removeAll()
        probe = nil
        keepsAlive = nil
        for id in boundValues.close() { releaseBoundValue(id) }
        // Last, because an end observer is promised that the thread has released everything.
        mailbox?.reportEnd()
        if identity != nil { DeliveryEvent.trace(.threadEnd) }
    }

    /// Releases a value of this thread, if it is still there.
    func releaseBoundValue(_ id: UInt64) {
        let value = boundValues.remove(id)
        // Released after the access to `boundValues`, because its deinitializer may use other values; otherwise the
        // optimizer may do it earlier.
        withExtendedLifetime(value) {}
    }

    // MARK: The thread

    /// Memory for building a line. The thread may use it until the next call.
    func scratch(atLeast capacity: Int) -> UnsafeMutablePointer<UInt8> {
        if let start = scratch?.baseAddress, scratch!.count >= capacity { return start }
        scratch?.deallocate()
        let new = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(2048, capacity))
        scratch = new
        return new.baseAddress!
    }

    // MARK: The thread's mailbox

    var mailbox: ThreadMailbox? { attachedMailbox ?? (isMain ? ThreadMailbox.main : nil) }

    /// Calls `body` with the thread's mailbox, if there is one. It is not retained, because `body` may end the thread.
    func withMailbox(_ body: (ThreadMailbox) -> Void) {
        if let own = uncountedMailbox.value {
            own._withUnsafeGuaranteedRef(body)
        } else if isMain {
            body(.main)
        }
    }

    var drainState: DrainState {
        @inline(__always) unsafeAddress { UnsafePointer(drainStateValue.pointer) }
        @inline(__always) unsafeMutableAddress { drainStateValue.pointer }
    }

    /// True if a mailbox is this thread's.
    @inline(__always)
    func owns(_ mailbox: Unmanaged<ThreadMailbox>) -> Bool {
        if let own = uncountedMailbox.value { return own.toOpaque() == mailbox.toOpaque() }
        return isMain && mailbox._withUnsafeGuaranteedRef(\.isMain)
    }

    /// The thread's mailbox, which is created if there is none.
    /// - Parameter isServed: whether the thread's run loop should serve it, and so have something to wait for.
    func attachedMailboxOrNew(isServed: Bool = true) -> ThreadMailbox {
        if let mailbox {
            if isServed { mailbox.serve() }
            return mailbox
        }
        let mailbox = ThreadMailbox(threadName: nil)
        attach(mailbox, isServed: isServed)
        return mailbox
    }

    func attach(_ mailbox: ThreadMailbox, isServed: Bool = true) {
        attachedMailbox = mailbox
        uncountedMailbox.value = .passUnretained(mailbox)
        mailbox.attach(to: .current, of: .current, isServed: isServed)
    }

    // MARK: A copy of the process

    /// The mailbox of a thread that is not the main thread.
    var ownMailbox: ThreadMailbox? { attachedMailbox }

    /// A descriptor in which this thread's run loop waits in its common modes, and no other; nil if the run loop serves
    /// no mailbox, or if the system has no descriptor left.
    func runLoopMember(of mailbox: ThreadMailbox) -> Int32? {
        guard mailbox.isServed else { return nil }
        if let event = drainState.event { return event.descriptor.number }
        if let probe { return probe.descriptor.number }
        guard let descriptor = EventDescriptor() else { return nil }
        let source = DescriptorSource(descriptor) {}
        source.addToCurrent(.default)
        source.addToCurrent(.common)
        probe = (descriptor, source)
        return descriptor.number
    }

    /// This thread goes on in a copy of the process, where the kernel gave it another id.
    func threadWasCopied() {
        guard let known = identity else { return }
        identity = ThreadIdentity(
            number: known.number, name: known.name, kernelID: SystemThread.currentKernelID)
    }

    // MARK: Handlers and blocks that run

    var handlersUnderWay: HandlersUnderWay {
        @inline(__always) unsafeAddress { UnsafePointer(handlers.pointer) }
        @inline(__always) unsafeMutableAddress { handlers.pointer }
    }

    var observersUnderWay: [ObserverID] { handlersUnderWay.observers.map(\.id) }

    func handlersUnderWay(of observer: Observer) -> Int {
        handlersUnderWay.observers.count { $0 === observer }
    }

    /// True if another handler may begin at once. Otherwise its delivery waits, before the stack overflows.
    var mayNest: Bool { nested.value < 100 }

    /// Calls a handler or block in the middle of other work.
    @inline(__always)
    func nest<Result>(_ description: @autoclosure () -> String, _ body: () -> Result) -> Result {
        if nested.value >= 250 { Self.isTooDeep(description()) }
        nested.value += 1
        defer { nested.value -= 1 }
        return body()
    }

    @inline(never)
    private static func isTooDeep(_ description: String) -> Never {
        preconditionFailure(
            """
            ThreadedNotifications: \(description) is posted by its own handler, 250 deep, and the stack would \
            overflow. Observe on a thread (on: .current) with the default options and post without waiting: then it waits.
            """)
    }

    /// Performs a block that was enqueued for this thread.
    func perform(_ block: () -> Void, post: UInt64, wait: DeliveryWait?) {
        handlersUnderWay.begin(nil, wait)
        DeliveryEvent.trace(.deliver, post: post)
        block()
        DeliveryEvent.trace(.return, post: post)
        handlersUnderWay.end()
        wait?.resolve(0, .delivered)
    }

    /// The number of the recorded post that a captured notification of this name belongs to: that of a posting queue,
    /// or one to a Foundation center; 0: none.
    func capturedPost(of name: Notification.Name) -> UInt64 {
        if let queuedPost, queuedPost.name == name { return queuedPost.number }
        return Recorder.currentPost
    }
}

private let mainIsKnown = Atomic(false)
