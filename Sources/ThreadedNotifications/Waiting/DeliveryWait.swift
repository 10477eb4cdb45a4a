internal import Foundation

/// A wait of one thread for deliveries, or for a block, on other threads. Every outcome resolves the wait for that
/// delivery, so that no thread waits for something that cannot happen.
final class DeliveryWait: Sendable {
    private struct State {
        /// The deliveries without an outcome, by observer; a block is observer 0.
        var pending: [ObserverID: PendingDelivery] = [:]
        var endedThread: String?
        var dropped: [ObserverID] = []
        var counters = DeliveryCounters()
    }

    private struct PendingDelivery {
        /// Nil: the waiting thread itself.
        let target: WaitGraph.Target?
        let description: DeliveryError.Pending
        /// Its number among the waiters of the observer; nil for a block.
        var waiter: UInt64?
        /// True if the call of its handler has begun.
        var hasBegun = false
    }

    /// One delivery that is waited for.
    struct Expected {
        /// 0: a block.
        var observer: ObserverID
        var notification: String?
        /// The thread; nil: a task.
        var thread: ThreadIdentity?
        /// True if the waiting thread makes the delivery, before it waits for the others.
        var isOwn = false

        fileprivate var target: WaitGraph.Target? { isOwn ? nil : thread.map { .thread($0.number) } ?? .task }
        fileprivate var threadName: String { thread.map { "\($0)" } ?? "a task" }
    }

    private let state = Locked(State(), isTakenToFork: true)
    private let isOver = MonotonicSemaphore()
    private let id: WaitGraph.WaitID

    /// Begins a wait for deliveries that are enqueued afterwards.
    /// - Throws: `DeliveryError` with the code `waitWouldDeadlock`.
    init(for expected: [Expected], at location: SourceLocation) throws(DeliveryError) {
        var waitsFor: [String] = []
        let others = expected.filter { !$0.isOwn }
        for one in others {
            let words = "\(one.threadName) to " + (one.notification.map { "handle \($0)" } ?? "perform a block")
            if !waitsFor.contains(words) { waitsFor.append(words) }
        }
        let targets = others.compactMap(\.target)
        id = try ThreadWaits.begin(
            for: targets, on: Set(targets).count == 1 ? others[0].thread : nil,
            waitsFor: waitsFor.joined(separator: " and "), at: location)
        // All before any waiter, because a removal that finds none left ends the wait.
        for one in expected {
            let description = DeliveryError.Pending(
                notification: one.notification, observer: one.observer == 0 ? nil : one.observer,
                thread: one.threadName)
            state.withLock {
                $0.pending[one.observer] = PendingDelivery(target: one.target, description: description)
            }
        }
        for one in expected where one.observer != 0 {
            let waiter = ObserverWaiters.add(.delivery(WeakReference(self)), for: one.observer)
            let isPending = state.withLock { state in
                state.pending[one.observer]?.waiter = waiter
                return state.pending[one.observer] != nil
            }
            if !isPending { ObserverWaiters.remove(waiter, for: one.observer) }
        }
    }

    deinit {
        ThreadWaits.end(id)
    }

    /// The observer was removed: its delivery is resolved if it has not begun. It will find the observer removed.
    func observerWasCancelled(_ observer: ObserverID) {
        if state.withLock({ $0.pending[observer]?.hasBegun == false }) { resolve(observer, .cancelled) }
    }

    /// In a copy of the process, what other threads were to deliver is not delivered.
    func otherThreadsHaveEnded() {
        let own = WaitGraph.Target.thread(ThreadContext.existing?.identity?.number ?? 0)
        let lost = state.withLock { $0.pending.filter { $0.value.target.map { $0 != own } ?? false }.map(\.key) }
        for observer in lost { resolve(observer, .targetGone) }
    }

    /// A delivery is about to begin. From now on the delivery itself resolves the wait, also if it finds the observer
    /// removed.
    func deliveryBegins(to observer: ObserverID) {
        state.withLock { $0.pending[observer]?.hasBegun = true }
    }

    /// The observer is called before `post` returns, and not waited for.
    func isCalledAtOnce(_ observer: ObserverID) {
        let pending = state.withLock { $0.pending.removeValue(forKey: observer) }
        if let waiter = pending?.waiter { ObserverWaiters.remove(waiter, for: observer) }
    }

    /// A delivery has an outcome. Only the first call for an observer has an effect.
    func resolve(_ observer: ObserverID, _ outcome: DeliveryOutcome) {
        let resolved: (one: PendingDelivery, wasLast: Bool)? = state.withLock { state in
            guard let pending = state.pending.removeValue(forKey: observer) else { return nil }
            state.counters.count(outcome)
            if outcome == .dropped || outcome == .refused { state.dropped.append(observer) }
            if outcome == .targetGone { state.endedThread = pending.description.thread }
            return (pending, state.pending.isEmpty)
        }
        guard let resolved else { return }
        if let waiter = resolved.one.waiter { ObserverWaiters.remove(waiter, for: observer) }
        if let target = resolved.one.target { ThreadWaits.complete(target, of: id) }
        if resolved.wasLast { isOver.signal() }
    }

    /// Waits until every delivery is resolved.
    /// - Returns: the outcomes of the deliveries.
    /// - Throws: `DeliveryError` with the code `notDeliveredInTime`, `threadEnded` or `dropped`.
    @discardableResult
    func wait(notification: String?, timeout: Duration) throws(DeliveryError) -> DeliveryCounters {
        let isPending = state.withLock { !$0.pending.isEmpty }
        let timedOut = isPending && !isOver.wait(until: .after(timeout))
        ThreadWaits.end(id, timedOut: timedOut)
        let (pending, endedThread, dropped, counters) = state.withLock { state in
            (state.pending.sorted { $0.key < $1.key }, state.endedThread, state.dropped.sorted(), state.counters)
        }
        if !pending.isEmpty {
            for (observer, one) in pending {
                if let waiter = one.waiter { ObserverWaiters.remove(waiter, for: observer) }
            }
            throw .notDeliveredInTime(
                pending: pending.map { _, one in
                    var description = one.description
                    description.running = ThreadedNotificationCenter.handlersRunning(on: description.thread)
                    return description
                }, after: timeout)
        }
        if let endedThread { throw .threadEnded(thread: endedThread) }
        if !dropped.isEmpty { throw .dropped(notification: notification ?? "a block", observers: dropped) }
        return counters
    }
}
