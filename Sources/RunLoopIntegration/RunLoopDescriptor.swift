internal import CLinux
internal import CoreFoundation
internal import Dispatch
internal import Foundation
internal import Glibc
internal import ThreadedNotifications

/// A file descriptor that is readable when a thread's run loop has something to do, for a thread that runs another main
/// loop: GLib's, Qt's, libuv's, Wayland's, or a loop around `epoll_wait`.
///
///     try RunLoopDescriptor.run { descriptor in
///         // Let the other loop watch descriptor.number for reading, and call descriptor.drain() when it is readable.
///         g_main_loop_run(loop)
///     }
///
/// While the other loop runs, the thread serves notifications and blocks for it, timers, ports and other sources,
/// `RunLoop.perform` with a wake-up, posting queues, and on the main thread `DispatchQueue.main` and the main actor.
/// Nothing polls: the descriptor is an epoll set with the descriptors in which the run loop would wait.
///
/// CoreFoundation ignores `CFRunLoopWakeUp` while a run loop does not run. So the other loop runs inside a run of the
/// run loop, in the place of its wait, and `drain()` makes nested passes:
///
///     run ──► a run of the run loop ──► the other loop ──readable──► drain ──► passes of the run loop
///
/// Threads: it belongs to the thread that calls `run`, and is used there only; the type is not Sendable.
/// Order: as in a run of the run loop in the default mode. The other loop decides the order with its own work. A
/// notification that a `PostingQueue` posts when idle waits for the run loop to be idle; the other loop need not be.
/// Removal: remove the descriptor from the other loop before the closure of `run` returns, which closes the descriptor.
/// `Thread.exit()` in the closure closes it too; CoreFoundation leaves two descriptors of its own open, as of every
/// thread that exits in a run of its run loop.
/// Cost: three or four descriptors. A drain of notifications, blocks and the main queue makes two to four system calls.
/// A drain of anything else makes two passes of the run loop, and the descriptor is readable seven times more in the
/// next 510 ms: CoreFoundation ignores a `CFRunLoopWakeUp` of another thread at the end of a pass, and what it was for
/// is found then. One that arrives while an observer of `exit` runs at the end of the last of these passes has no
/// effect until the descriptor is readable again. Notifications and blocks for the thread in the common modes, timers
/// and the main queue need no such check. While nothing happens it costs nothing.
public final class RunLoopDescriptor {
    /// The descriptor. Watch it for reading, level-triggered. Do not read from it or close it.
    public let number: CInt

    private let thread: ServedThread
    // What has descriptors is nil after `end`, because a thread that ends in the other loop never releases this object.
    private var runLoop: RunLoopReference?
    /// Made ready when something waits in the mailbox.
    private var event: EventDescriptor?
    /// Nil if the event is that of a `RunLoopThread` or of the call of `run` around this one.
    private var source: RunLoopSource?
    private var lateCheck: LateCheck?
    /// The set in which the run loop waits in the default mode. It has `decoy`.
    private let waitSet: EpollSet
    /// Can be written, and never read. A pass takes one descriptor from the set. If that is the decoy, the run loop
    /// reads nothing, and a wake-up that arrives during the pass stays in the set.
    private var decoy: EventDescriptor?
    /// Sees the runs that handlers begin.
    private var observer: RunLoopObserver?
    /// True from the beginning of a delivery until the event is read.
    private var isUnread = false
    /// False after `run` has returned.
    private var isOpen = true
    /// False after the first drain: a wake-up before `run` had no effect.
    private var isFirstDrain = true
    /// The number of drains under way, each called in a handler of the one before.
    private var depth = 0
    /// The depth of the drain that is in a block of the main queue; nil if there is none.
    private var mainQueueDepth: Int?

    /// A drain ends after so many passes, or so much time, so that a flood does not stop the other loop.
    private static let maximumPasses = 10
    private static let maximumNanoseconds: UInt64 = 8_000_000

    // MARK: Running the other loop

    /// Runs another main loop on the calling thread, with a descriptor through which it serves the thread's run loop.
    ///
    /// The descriptor is readable at first. Calls may be nested: a handler that runs the other loop until it returns,
    /// as for a dialog, does so in a call of its own, because the first one may be in the middle of a pass.
    ///
    /// Threads: any thread. On a `RunLoopThread`, call it in a block that is performed there. In a block of the main
    /// queue or a task of the main actor, the main queue and the main actor are not served.
    /// - Parameter otherLoop: runs the other loop until it ends.
    /// - Returns: what `otherLoop` returned.
    /// - Throws: what `otherLoop` throws; or `DeliveryError` with the code `descriptorFailed` if the system has no
    ///   descriptor left, if the descriptors of the run loop are not found, as where `/proc` is not mounted, or on the
    ///   main thread if libdispatch lacks the private functions with which a run loop serves the main queue.
    @available(*, noasync, message: "it blocks the thread; call it in a synchronous function")
    public static func run<Result>(_ otherLoop: (RunLoopDescriptor) throws -> Result) throws -> Result {
        let descriptor = try RunLoopDescriptor()
        // `Thread.exit()` in the other loop does not return here.
        let loops = descriptor.thread.service(OtherLoops.self)
        loops.begin(descriptor)
        defer { loops.endLast() }
        var result: Swift.Result<Result, any Error>?
        let loop = {
            // In the run, because its beginning clears the event.
            descriptor.event?.makeReady()
            result = .init { try otherLoop(descriptor) }
        }
        withoutActuallyEscaping(loop) { OtherLoopRun($0).run() }
        guard let result else { throw Self.failure("its run loop does not run any more") }
        return try result.get()
    }

    private init() throws(DeliveryError) {
        thread = .current(isServed: true)
        runLoop = .current
        let sharedEvent = thread.event
        guard let event = sharedEvent ?? EventDescriptor(), let decoy = EventDescriptor(), let lateCheck = LateCheck()
        else {
            throw Self.failure(String(cString: strerror(errno)))
        }
        let isMain = SystemThread.currentIsMain
        if isMain, !CLinuxServesMainQueue() { throw Self.failure("libdispatch has no descriptor of the main queue") }
        (self.event, self.decoy, self.lateCheck) = (event, decoy, lateCheck)
        waitSet = try Self.waitSet()
        number = epoll_create1(Int32(EPOLL_CLOEXEC))
        // The event is in the run loop's set too, through which it would wake the other loop later.
        var members = [
            (waitSet.descriptor, Ready.runLoop), (event.number, .mailbox), (lateCheck.descriptor, .lateCheck),
        ]
        if isMain { members.append((CLinuxMainQueueEvent(), .mainQueue)) }
        for (member, ready) in members {
            try check(number < 0 ? errno : watch(EPOLL_CTL_ADD, member, ready))
        }
        try check(setDecoy(EPOLL_CTL_ADD, isReady: false))
        if sharedEvent == nil {
            // In the common modes, for handlers that run the run loop.
            source = RunLoopSource(event) { ServedThread.drain() }
            source?.add(to: .current, mode: .common)
            thread.replaceEvent(nil, with: event)
        }
        // Safety: the run loop calls the observer on this thread, until `end`.
        nonisolated(unsafe) weak let descriptor = self
        observer = RunLoopObserver(of: [.entry]) { _ in descriptor?.readEvent() }
        observer?.add(to: .current, mode: .common)
    }

    private func check(_ error: CInt) throws(DeliveryError) {
        guard error != 0 else { return }
        close(number)
        throw Self.failure(String(cString: strerror(error)))
    }

    private static func failure(_ problem: String) -> DeliveryError {
        .descriptorFailed(thread: ThreadIdentity.current.description, problem: problem)
    }

    /// The set in which the calling thread's run loop waits in the default mode. It is found by a member that only this
    /// set has.
    private static func waitSet() throws(DeliveryError) -> EpollSet {
        guard let member = EventDescriptor() else { throw failure(String(cString: strerror(errno))) }
        let source = RunLoopSource(member) {}
        source.add(to: .current, mode: .default)
        guard let set = withExtendedLifetime(source, { EpollSet(with: member) }) else {
            throw failure("the descriptors in which its run loop waits are not found in /proc, or too few are left")
        }
        return set
    }

    /// Called by `run`, or when the thread ends in it.
    func end() {
        isOpen = false
        close(number)
        observer?.invalidate()
        let (event, isOwnEvent) = (event, source != nil)
        (runLoop, self.event, source, lateCheck, decoy, observer) = (nil, nil, nil, nil, nil, nil)
        if isOwnEvent { thread.replaceEvent(event, with: nil) }
    }

    // MARK: Draining

    /// Does what the run loop has to do, and returns. If that takes more than 8 ms or ten passes of the run loop, the
    /// rest waits for the next call, and the descriptor stays readable. On every thread this limits what is delivered,
    /// beside the thread's `drainBudget`; a handler or a block of the main queue that has begun is not interrupted.
    ///
    /// A call after `run` has returned has no effect.
    /// - Precondition: the calling thread is the one that called `run`.
    public func drain() {
        precondition(
            thread.isCurrent,
            "RunLoopDescriptor: drain was called on \(ThreadIdentity.current), not on \(thread.identity, default: "its thread")."
        )
        guard isOpen else { return }
        depth += 1
        defer {
            watchMainQueueAgain()
            depth -= 1
        }
        let deadline = SystemThread.monotonicNanoseconds + Self.maximumNanoseconds
        let outerDeadline = ServedThread.drainDeadline
        ServedThread.drainDeadline = deadline
        defer { ServedThread.drainDeadline = outerDeadline }
        var mustLook = isFirstDrain
        if isFirstDrain { lateCheck?.begin() }
        isFirstDrain = false
        for _ in 0..<Self.maximumPasses {
            deliver()
            watchMainQueueAgain()
            let ready = readyMembers()
            if ready.contains(.lateCheck) {
                lateCheck?.isDue()
                mustLook = true
            }
            if ready.contains(.mainQueue) { callMainQueue() }
            guard isOpen else { return }
            if ready.contains(.runLoop) {
                RunLoop.runCurrent(for: 0)
                // A wake-up while the run loop called a handler has no effect: another pass finds out what it was for.
                mustLook = true
                lateCheck?.begin()
            } else if mustLook {
                mustLook = look()
                if mustLook { lateCheck?.begin() }
            } else if !ready.contains(.mainQueue) {
                return postIdle()
            }
            guard isOpen else { return }
            deliveryMayRemain()
            if SystemThread.monotonicNanoseconds > deadline { break }
        }
        if mustLook { runLoop?.wakeUp() }
    }

    /// Makes a pass of the run loop although nothing is known to wait. It must not take what it has not looked for.
    /// - Returns: true if it has handled a source, which may have signalled itself again.
    private func look() -> Bool {
        _ = setDecoy(EPOLL_CTL_MOD, isReady: true)
        return RunLoop.runCurrent(for: 0, untilSourceHandled: true)
    }

    /// Delivers what waits in the mailbox, without a pass of the run loop.
    private func deliver() {
        guard thread.hasWork else { return }
        isUnread = true
        ServedThread.drain()
        readEvent()
    }

    /// The event must not end a run that a handler begins, and has to be unreadable after the handlers. What arrived
    /// meanwhile makes it readable.
    private func readEvent() {
        guard isUnread else { return }
        isUnread = false
        event?.clear()
        deliveryMayRemain()
    }

    /// If the budget of a drain is spent, the run loop's next pass continues.
    private func deliveryMayRemain() {
        if thread.hasWork { event?.makeReady() }
    }

    /// In a run that may wait, the run loop looks for idleness.
    private func postIdle() {
        guard thread.servicesHaveWork else { return }
        RunLoop.runCurrent(for: 0.01, untilSourceHandled: true)
        deliveryMayRemain()
        // The next one, if there is any, is posted after the other loop has had its turn.
        runLoop?.wakeUp()
    }

    private func setDecoy(_ operation: CInt, isReady: Bool) -> CInt {
        guard let decoy else { return 0 }
        let events = isReady ? EPOLLOUT.rawValue | EPOLLONESHOT.rawValue : 0
        return CLinuxWatch(waitSet.descriptor, operation, decoy.number, events, UInt64(decoy.number))
    }

    // MARK: Readiness

    private struct Ready: OptionSet {
        let rawValue: UInt64
        static let runLoop = Ready(rawValue: 1)
        static let mainQueue = Ready(rawValue: 2)
        static let mailbox = Ready(rawValue: 4)
        static let lateCheck = Ready(rawValue: 8)
    }

    /// True if the run loop has something to do.
    var isReadable: Bool { !readyMembers().isEmpty }

    /// True if it is not readable, and will not be because of what has happened until now.
    var isQuiet: Bool { !isReadable && lateCheck?.isArmed != true }

    private func readyMembers() -> Ready {
        var events = [UInt32](repeating: 0, count: 8)
        var data = [UInt64](repeating: 0, count: 8)
        let count = CLinuxWaitForEvents(number, &events, &data, 8, 0)
        return data.prefix(Int(max(count, 0))).reduce(into: []) { $0.formUnion(Ready(rawValue: $1)) }
    }

    private func watch(_ operation: CInt, _ member: CInt, _ ready: Ready) -> CInt {
        CLinuxWatch(number, operation, member, EPOLLIN.rawValue, ready.rawValue)
    }

    // MARK: The main queue

    /// Calls the blocks of the main queue. In one of them none is called, and the descriptor must not stay readable for
    /// the others.
    ///
    /// The run loop would do it in a later pass if other threads wake it all the time.
    private func callMainQueue() {
        let isCalled = Locked(false)
        DispatchQueue.main.async { isCalled.withLock { $0 = true } }
        var count: eventfd_t = 0
        eventfd_read(CLinuxMainQueueEvent(), &count)
        CLinuxCallMainQueue(nil)
        guard isOpen, !isCalled.withLock({ $0 }) else { return }
        mainQueueDepth = depth
        _ = watch(EPOLL_CTL_DEL, CLinuxMainQueueEvent(), .mainQueue)
    }

    /// The block of the main queue in which a drain was called may have returned.
    private func watchMainQueueAgain() {
        guard isOpen, let mainQueueDepth, depth < mainQueueDepth else { return }
        self.mainQueueDepth = nil
        _ = watch(EPOLL_CTL_ADD, CLinuxMainQueueEvent(), .mainQueue)
    }
}
