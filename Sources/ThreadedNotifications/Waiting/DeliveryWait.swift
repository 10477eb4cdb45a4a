internal import Foundation

/// A wait of one thread for deliveries, or for a block, on other threads. Every outcome of guarantee 14 resolves the
/// wait for that delivery, so that no thread waits for something that cannot happen.
final class DeliveryWait: Sendable {
    private struct State {
        /// The deliveries without an outcome, by observer; a block is observer 0.
        var pending: [ObserverID: PendingDelivery] = [:]
        var ended: String?
        var dropped: [ObserverID] = []
        var delivered = 0
        var coalesced = 0
        var cancelled = 0
    }

    private struct PendingDelivery {
        let target: WaitGraph.Target
        let description: DeliveryError.Pending
        /// True if the call of its handler has begun.
        var hasBegun = false
    }

    /// The waits for each observer. Its removal ends them.
    private static let waits = Locked<[ObserverID: [WeakWait]]>([:], isTakenToFork: true)

    /// Makes what all threads share, before the process forks.
    static func makeShared() { _ = waits }

    private let state = Locked(State(), isTakenToFork: true)
    private let isOver = MonotonicSemaphore()
    private let id: WaitGraph.WaitID

    /// One delivery that is waited for.
    struct Expected {
        var observer: ObserverID
        var notification: String?
        var target: WaitGraph.Target
        /// Nil: a task.
        var identity: ThreadIdentity?
        /// In words.
        var thread: String { identity.map { "\($0)" } ?? "a task" }

        init(observer: ObserverID, notification: String?, thread: ThreadIdentity) {
            (self.observer, self.notification) = (observer, notification)
            (target, identity) = (.thread(thread.number), thread)
        }

        /// A delivery to an async handler, which runs on no particular thread.
        init(asyncHandlerOf observer: ObserverID, notification: String) {
            (self.observer, self.notification) = (observer, notification)
            target = .task
        }
    }

    /// Begins a wait for deliveries that are enqueued afterwards.
    /// - Throws: `DeliveryError` with the code `waitWouldDeadlock`.
    init(for expected: [Expected], at location: SourceLocation) throws(DeliveryError) {
        let waitsFor = expected.map { one in
            "\(one.thread) to " + (one.notification.map { "handle \($0)" } ?? "perform a block")
        }
        var once: [String] = []
        for words in waitsFor where !once.contains(words) { once.append(words) }
        let targets = expected.map(\.target)
        id = try ThreadWaits.begin(
            for: targets, on: Set(targets).count == 1 ? expected[0].identity : nil,
            waitsFor: once.joined(separator: " and "), at: location)
        state.withLock { state in
            for one in expected {
                let description = DeliveryError.Pending(
                    notification: one.notification, observer: one.observer == 0 ? nil : one.observer,
                    thread: one.thread)
                state.pending[one.observer] = PendingDelivery(target: one.target, description: description)
            }
        }
        Self.waits.withLock { waits in
            for one in expected where one.observer != 0 {
                waits[one.observer, default: []].append(WeakWait(wait: self))
            }
        }
    }

    deinit {
        ThreadWaits.end(id)
    }

    /// The observer was removed: resolves the deliveries that have not begun. They find the observer removed.
    static func observerWasCancelled(_ observer: ObserverID) {
        let waits = waits.withLock { $0[observer]?.compactMap(\.wait) ?? [] }
        for wait in waits where wait.state.withLock({ $0.pending[observer]?.hasBegun == false }) {
            wait.resolve(observer, .cancelled)
        }
    }

    /// In a copy of the process, what other threads were to deliver is not delivered.
    static func otherThreadsHaveEnded() {
        let own = WaitGraph.Target.thread(ThreadContext.existing?.identity?.number ?? 0)
        let waits = waits.withLock { $0.values.joined().compactMap(\.wait) }
        for wait in waits {
            let lost = wait.state.withLock { $0.pending.filter { $0.value.target != own }.map(\.key) }
            for observer in lost { wait.resolve(observer, .targetGone) }
        }
    }

    /// A delivery is about to begin. From now on the delivery itself resolves the wait, also if it finds the observer
    /// removed.
    func deliveryBegins(to observer: ObserverID) {
        state.withLock { $0.pending[observer]?.hasBegun = true }
    }

    private func forget(_ observer: ObserverID) {
        guard observer != 0 else { return }
        Self.waits.withLock { waits in
            waits[observer]?.removeAll { $0.id == id }
            if waits[observer]?.isEmpty == true { waits[observer] = nil }
        }
    }

    /// A wait that is not retained.
    private struct WeakWait: Sendable {
        let id: WaitGraph.WaitID
        private(set) weak var wait: DeliveryWait?

        init(wait: DeliveryWait) {
            id = wait.id
            self.wait = wait
        }
    }

    /// A delivery has an outcome. Only the first call for an observer has an effect.
    func resolve(_ observer: ObserverID, _ outcome: DeliveryOutcome) {
        let resolved: (target: WaitGraph.Target, wasLast: Bool)? = state.withLock { state in
            guard let pending = state.pending.removeValue(forKey: observer) else { return nil }
            switch outcome {
            case .delivered: state.delivered += 1
            case .cancelled: state.cancelled += 1
            case .coalesced: state.coalesced += 1
            case .waiting: break
            case .dropped, .refused: state.dropped.append(observer)
            case .targetGone: state.ended = pending.description.thread
            }
            return (pending.target, state.pending.isEmpty)
        }
        guard let resolved else { return }
        forget(observer)
        ThreadWaits.complete(resolved.target, of: id)
        if resolved.wasLast { isOver.signal() }
    }

    /// Waits until the last delivery is resolved.
    /// - Returns: false if that did not happen in time.
    private func waitForLast(timeout: Duration, _ context: ThreadContext) -> Bool {
        let deadline = SuspendingClock.Instant.after(timeout)
        if let limit = context.waitBudget.limit, timeout > .nanoseconds(limit) {
            // A thread that is awake answers sooner than this thread could sleep and be woken.
            let start = SystemThread.monotonicNanoseconds
            let isFound = isOver.watch(for: limit)
            let spent = min(Int(SystemThread.monotonicNanoseconds - start), limit)
            if isFound { context.waitBudget.found(after: spent) } else { context.waitBudget.foundNothing(after: spent) }
            if isFound { return true }
        }
        defer { context.waitBudget.woken() }
        return isOver.wait(until: deadline)
    }

    /// Waits until every delivery is resolved.
    /// - Returns: the number of deliveries that were made, and that were cancelled.
    /// - Throws: `DeliveryError` with the code `notDeliveredInTime`, `threadEnded` or `dropped`.
    @discardableResult
    func wait(
        notification: String?, timeout: Duration
    ) throws(DeliveryError) -> (delivered: Int, coalesced: Int, cancelled: Int) {
        let isPending = state.withLock { !$0.pending.isEmpty }
        let timedOut = isPending && !ThreadContext.withCurrent { waitForLast(timeout: timeout, $0) }
        ThreadWaits.end(id, timedOut: timedOut)
        let (pending, ended, dropped) = state.withLock { state in
            (state.pending.sorted { $0.key < $1.key }.map(\.value.description), state.ended, state.dropped.sorted())
        }
        for one in pending { forget(one.observer ?? 0) }
        if !pending.isEmpty {
            throw .notDeliveredInTime(
                pending: pending.map { one in
                    var one = one
                    one.running = ThreadedNotificationCenter.handlersRunning(on: one.thread)
                    return one
                }, after: timeout)
        }
        if let ended { throw .threadEnded(thread: ended) }
        if !dropped.isEmpty { throw .dropped(notification: notification ?? "a block", observers: dropped) }
        return state.withLock { ($0.delivered, $0.coalesced, $0.cancelled) }
    }
}
