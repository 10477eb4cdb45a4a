/// A wait of one thread for deliveries, or for a block, on other threads. Every outcome resolves the wait for that
/// delivery, so that no thread waits for something that cannot happen.
///
/// Threads: any; `init` and `wait` on the waiting thread, which calls each once.
final class DeliveryWait: Sendable {
    /// Nil: there is nothing to wait for.
    private let id: WaitGraph.WaitID?
    private let isOver = MonotonicSemaphore()

    /// Begins a wait for deliveries that are enqueued afterwards.
    /// - Parameter notification: its name; nil: a block, of the observer 0.
    /// - Throws: `DeliveryError` with the code `waitWouldDeadlock`.
    init(
        for targets: [WaitGraph.Target], of notification: String?, at location: SourceLocation
    ) throws(DeliveryError) {
        id = targets.isEmpty ? nil : try Waits.begin(for: targets, of: notification, at: location, waking: isOver)
    }

    /// A delivery is about to begin. From now on the delivery itself resolves the wait, also if it finds the observer
    /// removed.
    func deliveryBegins(to observer: ObserverID) {
        guard let id else { return }
        Waits.withGraph { $0.deliveryBegins(to: observer, of: id) }
    }

    /// A delivery has an outcome, or is made before `post` returns. Only the first call for an observer has an effect.
    func resolve(_ observer: ObserverID, _ outcome: DeliveryOutcome) {
        guard let id, Waits.withGraph({ $0.resolve(observer, outcome, of: id) }) else { return }
        isOver.signal()
    }

    /// Waits until every delivery is resolved.
    /// - Returns: the outcomes of the deliveries.
    /// - Throws: `DeliveryError` with the code `notDeliveredInTime`, `threadEnded` or `dropped`.
    @discardableResult
    func wait(timeout: Duration) throws(DeliveryError) -> DeliveryCounters {
        guard let id else { return DeliveryCounters() }
        let timedOut = !isOver.wait(until: .after(timeout))
        guard let wait = Waits.end(id, timedOut: timedOut) else { return DeliveryCounters() }
        if !wait.targets.isEmpty {
            let pending = wait.targets.sorted { $0.observer < $1.observer }.map { target in
                DeliveryError.Pending(
                    notification: wait.notification, observer: target.observer == 0 ? nil : target.observer,
                    thread: target.threadName,
                    running: ThreadedNotificationCenter.handlersRunning(on: target.threadName))
            }
            throw .notDeliveredInTime(pending: pending, after: timeout)
        }
        if let thread = wait.endedThread { throw .threadEnded(thread: thread) }
        if !wait.dropped.isEmpty {
            throw .dropped(notification: wait.notification ?? "a block", observers: wait.dropped.sorted())
        }
        return wait.counters
    }
}
