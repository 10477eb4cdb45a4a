internal import CLinux
internal import CoreFoundation
internal import Foundation
internal import Glibc
internal import Synchronization

/// Wakes a `RunLoopThread`: an event that is a source in the common modes, and on which the thread sleeps.
///
/// When a source wakes a run loop, CoreFoundation makes three system calls to find out why, and calls the source in its
/// next pass. Here the thread sleeps in a run loop observer, the last one before the run loop would wait, on the set of
/// descriptors in which the run loop waits. It drains as soon as it wakes. The event is left unread, so that the run
/// loop makes a pass after each drain, for its timers and other sources.
///
///     sleep ──event──► drain ──► a pass of the run loop, which reads the event ──► sleep
///       └──anything else───────► a pass of the run loop ─────────────────────────► sleep
///
/// A nested run waits as usual, and the event is one of its sources.
/// Threads: `send` any; the rest is for the thread itself.
final class EventSignal: ThreadSignal {
    /// The thread's part.
    struct Sleep {
        fileprivate let event: EventDescriptor
        fileprivate let set: EpollSet
        fileprivate let source: RunLoopSource
        fileprivate let observers: [RunLoopObserver]
        /// The number of runs in the default mode under way.
        var depth = 0
        /// True from a drain of the sleep until the event is read. `MailboxState.isAwake` is true then, too, unless the
        /// thread sleeps.
        fileprivate var isUnread = false
        /// When the last drain of the sleep ended, in nanoseconds.
        fileprivate var lastDrain: UInt64 = 0
        /// Until then the thread does not look for more, in nanoseconds.
        fileprivate var restsUntil: UInt64 = 0
    }

    let event: EventDescriptor

    /// Another main loop of the thread waits for the event.
    init(_ event: EventDescriptor) {
        self.event = event
    }

    /// Lets an event wake the calling thread.
    /// - Returns: nil if the system has no descriptor left, or if the set in which the run loop waits is not found.
    static func make(_ context: ThreadContext) -> EventSignal? {
        guard let event = EventDescriptor() else { return nil }
        let source = RunLoopSource(event) { ThreadContext.withCurrent { wasRead($0) } }
        // First only to the default mode: its set has the event from now on.
        source.add(to: .current, mode: .default)
        guard let set = EpollSet(with: event) else { return nil }
        source.add(to: .current, mode: .common)
        let run = RunLoopObserver(isLast: true) { activity in ThreadContext.withCurrent { runLoop(will: activity, $0) }
        }
        run.add(to: .current, mode: .default)
        let nested = RunLoopObserver(of: [.entry]) { _ in ThreadContext.withCurrent { runBegins($0) } }
        nested.add(to: .current, mode: .common)
        context.sleep = Sleep(event: event, set: set, source: source, observers: [run, nested])
        return EventSignal(event)
    }

    func send() { eventfd_write(event.number, 1) }

    var isServedNow: Bool { ThreadContext.withCurrent { $0.sleep?.observers.last?.isInCurrentMode } ?? true }

    /// The event and the observers end with the thread.
    func invalidate() {}

    private static func runLoop(will activity: CFRunLoopActivity, _ context: ThreadContext) {
        switch activity {
        case .entry: context.sleep?.depth += 1
        case .exit: context.sleep?.depth -= 1
        // A nested run is not this object's to stop.
        case .beforeTimers, .beforeWaiting:
            guard context.sleep?.depth == 1 else { return }
            guard context.mailbox.isOpen else { return RunLoop.stopCurrent() }
            guard activity == .beforeWaiting, let set = context.sleep?.set else { return }
            // Unread, the event may also not be ready yet: the thread that signals it may be about to.
            if context.sleep?.isUnread == true { context.mailbox.state.withLock { $0.isAwake = false } }
            if context.sleep?.isUnread != true || !context.hasWork {
                var waiting = pollfd(fd: set.descriptor, events: Int16(POLLIN), revents: 0)
                poll(&waiting, 1, -1)
            }
            guard context.hasWork else { return }
            setUnread(true, context)
            let woken = SystemThread.monotonicNanoseconds
            let isOften = context.sleep.map { woken - $0.lastDrain < 500_000 } == true
            var isOne: Bool
            repeat {
                isOne = context.mailbox.state.withLock { $0.pending.entries.count == 1 }
                Drain.run(context)
                for service in context.mailbox.state.withLock({ $0.services }).values { service.drainEnded() }
                // A nested run may have read the event, and the run loop must make a pass.
                if context.sleep?.isUnread == false {
                    context.sleep?.event.makeReady()
                    setUnread(true, context)
                }
            } while isOften && moreIsAppended(context, isOne, since: woken)
            context.sleep?.lastDrain = SystemThread.monotonicNanoseconds
        default: break
        }
    }

    private static func setUnread(_ isUnread: Bool, _ context: ThreadContext) {
        context.sleep?.isUnread = isUnread
        context.mailbox.state.withLock { $0.isAwake = isUnread && $0.replacedSignal == nil }
    }

    /// Lets other threads go on. If many post, more waits then at the next drain, after a pass of the run loop. If one
    /// waits for what this thread posts, it soon appends the next delivery: the thread looks for that for 20 µs. After
    /// 200 µs, and after each budget, the run loop makes a pass.
    /// - Parameter isOne: whether one delivery was drained.
    private static func moreIsAppended(_ context: ThreadContext, _ isOne: Bool, since woken: UInt64) -> Bool {
        let begin = SystemThread.monotonicNanoseconds
        guard isOne, begin - woken < 200_000, begin > context.sleep?.restsUntil ?? 0,
            context.mailbox.state.withLock({ $0.life.phase == .open && $0.drainBudget == .unbounded })
        else {
            sched_yield()
            return false
        }
        var (now, isAppended) = (begin, false)
        repeat {
            sched_yield()
            now = SystemThread.monotonicNanoseconds
            isAppended = context.mailbox.hasDeliveries.load(ordering: .relaxed)
        } while !isAppended && now - begin < 20_000
        // It is not worth it now, or the machine is so busy that giving way takes milliseconds.
        if !isAppended || now - begin > 500_000 { context.sleep?.restsUntil = now + 10_000_000 }
        return isAppended
    }

    /// A run begins. If it is nested, what was drained must not make it return; what still waits, or a stop, does.
    private static func runBegins(_ context: ThreadContext) {
        let wasUnread = context.sleep?.isUnread == true
        if wasUnread {
            context.sleep?.event.clear()
            setUnread(false, context)
        }
        if wasUnread, !context.mailbox.isOpen {
            context.sleep?.event.makeReady()
        } else {
            context.signalIfWorkIsLeft()
        }
    }

    /// The run loop has read the event.
    private static func wasRead(_ context: ThreadContext) {
        let isPassAfterDrain = context.sleep?.isUnread == true
        setUnread(false, context)
        if isPassAfterDrain, context.mailbox.state.withLock({ $0.drainBudget != .unbounded }) {
            // This pass is the one between two budgets, also if the last one was not spent. The next one goes on.
            context.signalIfWorkIsLeft()
        } else if context.hasWork {
            Drain.run(context)
        }
    }

    /// The thread's own run of the run loop is over. Neither the event nor the depth must end a run that is nested in
    /// the last drain.
    static func ownRunIsOver(_ context: ThreadContext) {
        context.sleep?.depth += 1
        context.sleep?.event.clear()
        setUnread(false, context)
    }
}
