internal import CLinux
internal import Foundation

/// The event on which a mailbox's thread sleeps, if the thread runs its run loop all the time.
///
/// When a signalled source wakes a run loop, CoreFoundation makes three system calls to find out why, and calls the
/// source only in its next pass. Here the thread sleeps in a run loop observer, the last one before the run loop would
/// wait. It waits for the same descriptors as the run loop, among them the event, and drains the mailbox as soon as it
/// wakes. The event is left unread, so that the run loop then makes a pass, as after every source.
///
///     sleep ──event──► drain ──► a pass of the run loop, which reads the event ──► sleep
///       └──anything else───────► a pass of the run loop ─────────────────────────► sleep
///
/// A nested run waits as usual; if its mode is a common mode, the event is one of its sources.
/// Threads: the target thread. Nothing here is retained while a handler runs, because a handler may end the thread.
struct MailboxEvent {
    /// Made ready when something waits in the mailbox.
    let descriptor: EventDescriptor
    /// Wakes the thread for other reasons.
    let sleepEvent: SleepEvent
    private let source: DescriptorSource
    /// The observer in which the thread sleeps. CoreFoundation does not call it again before it has returned, so the
    /// other one sees the runs that its handlers begin.
    private let observer: RunLoopObserver
    private let observerOfNestedRuns: RunLoopObserver
    /// The set in which the run loop waits in the default mode.
    private let waitSet: EpollSet
    /// The number of runs in the default mode that are under way and that `observer` saw begin.
    private var depth = 0
    /// True from a drain in `observer` until the event is read.
    private var isUnread = false

    /// - Returns: nil if the system has no descriptor left, or if it is not certain in which set the run loop waits.
    ///   Then the sources of the run loop wake the thread, which takes longer.
    init?() {
        guard let descriptor = EventDescriptor() else { return nil }
        self.descriptor = descriptor
        sleepEvent = SleepEvent { descriptor.makeReady() }
        source = DescriptorSource(descriptor) { Self.wasRead() }
        // First only to the default mode, whose set has the event from now on.
        source.addToCurrent(.default)
        guard let waitSet = EpollSet(with: descriptor) else { return nil }
        self.waitSet = waitSet
        source.addToCurrent(.common)
        observer = RunLoopObserver(isLast: true) { Self.runLoop(will: $0) }
        observer.add(to: .current, mode: .default)
        observerOfNestedRuns = RunLoopObserver(of: [.entry]) { _ in Self.runBegins() }
        observerOfNestedRuns.add(to: .current, mode: .common)
    }

    /// The thread's own run of the run loop is over. The last drain takes everything that made the event ready, so the
    /// event must not end a run that is nested in that drain. The depth keeps such a run from being taken for the own.
    mutating func endOwnRun() {
        depth += 1
        isUnread = false
        descriptor.clear()
    }

    private static func runLoop(will activity: RunLoopObserver.Activity) {
        withMailbox { mailbox, context in
            switch activity {
            case .entry: context.drainState.event?.depth += 1
            case .exit: context.drainState.event?.depth -= 1
            // A closed mailbox ends the own run, not a nested one.
            case .beforeTimers where context.drainState.event?.depth == 1 && !mailbox.isOpen: RunLoop.stopCurrent()
            case .beforeWaiting where context.drainState.event?.depth == 1: sleep(mailbox, context)
            case .beforeTimers, .beforeWaiting: break
            }
        }
    }

    private static func sleep(_ mailbox: ThreadMailbox, _ context: ThreadContext) {
        // Since `beforeTimers`, a nested run may have read the event of `close()`.
        guard mailbox.isOpen else { return RunLoop.stopCurrent() }
        if let event = context.drainState.event { event.sleepEvent.sleep { event.waitSet.wait() } }
        guard mailbox.hasWork else { return }
        context.drainState.event?.isUnread = true
        drain(mailbox, context)
        // The posting queues have looked for idleness in this pass before the handlers ran.
        for service in mailbox.state.withLock({ $0.services }).values { service.drainEnded() }
        // A nested run may have read the event, and the run loop must make a pass.
        if context.drainState.event?.isUnread == false {
            context.drainState.event?.isUnread = true
            context.drainState.event?.descriptor.makeReady()
        }
    }

    /// A run begins. If it is nested, what was drained must not make it return; what still waits, or a stop, does.
    private static func runBegins() {
        withMailbox { mailbox, context in
            guard context.drainState.event?.isUnread == true else { return }
            context.drainState.event?.isUnread = false
            context.drainState.event?.descriptor.clear()
            if mailbox.hasWork { context.drainState.event?.descriptor.makeReady() }
        }
    }

    /// The run loop has read the event.
    private static func wasRead() {
        withMailbox { mailbox, context in
            guard let wasUnread = context.drainState.event?.isUnread else { return }
            context.drainState.event?.isUnread = false
            if !wasUnread {
                drain(mailbox, context)
            } else if mailbox.hasWork {
                // A drain has just ended, perhaps because its budget is spent. The next pass delivers the rest.
                mailbox.signalItself(0)
            }
        }
    }

    private static func drain(_ mailbox: ThreadMailbox, _ context: ThreadContext) {
        // On the posting thread's processor, this thread would interrupt it for each entry. So it lets entries gather.
        if context.drainState.burstDetector.isBurst { CLinuxYield() }
        Drain.run(mailbox, signalled: 0)
    }

    private static func withMailbox(_ body: (ThreadMailbox, ThreadContext) -> Void) {
        ThreadContext.withCurrent { context in context.withMailbox { body($0, context) } }
    }
}
