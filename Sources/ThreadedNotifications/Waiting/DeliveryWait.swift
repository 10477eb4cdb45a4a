internal import Dispatch
internal import Foundation

/// A wait of one thread for deliveries or a block on others. Every fate of guarantee 14 resolves what it is the fate of, so
/// that nobody waits for what cannot happen any more.
final class DeliveryWait: Sendable {
    private struct State {
        /// What has not happened yet, by observer; a block is observer 0.
        var pending: [ObserverID: (target: WaitGraph.Target, description: DeliveryError.Pending)] = [:]
        var ended: String?
        var dropped: [ObserverID] = []
    }

    private let state = Locked(State())
    private let isOver = DispatchSemaphore(value: 0)
    private let id: WaitGraph.WaitID

    /// What is waited for of one thread.
    struct Expected {
        var observer: ObserverID
        var notification: String?
        var thread: ThreadIdentity
    }

    /// Begins a wait for something that is handed over afterwards.
    /// - Throws: `DeliveryError.waitWouldDeadlock`.
    init(for expected: [Expected], at place: SourcePlace) throws(DeliveryError) {
        let waitsFor = expected.map { one in
            "\(one.thread) to " + (one.notification.map { "handle \($0)" } ?? "perform a block")
        }
        var once: [String] = []
        for words in waitsFor where !once.contains(words) { once.append(words) }
        id = try ThreadWaits.begin(
            for: expected.map { .thread($0.thread.number) }, waitsFor: once.joined(separator: " and "), at: place)
        state.withLock { state in
            for one in expected {
                let description = DeliveryError.Pending(
                    notification: one.notification, observer: one.observer == 0 ? nil : one.observer,
                    thread: "\(one.thread)")
                state.pending[one.observer] = (.thread(one.thread.number), description)
            }
        }
    }

    deinit {
        ThreadWaits.end(id)
    }

    /// What is waited for happened, or will not happen any more; the first to say so counts.
    func resolve(_ observer: ObserverID, _ fate: DeliveryLedger.Fate) {
        let resolved: (target: WaitGraph.Target, wasLast: Bool)? = state.withLock { state in
            guard let pending = state.pending.removeValue(forKey: observer) else { return nil }
            switch fate {
            case .delivered, .coalesced, .cancelled: break
            case .dropped: state.dropped.append(observer)
            case .targetGone: state.ended = pending.description.thread
            }
            return (pending.target, state.pending.isEmpty)
        }
        guard let resolved else { return }
        ThreadWaits.complete(resolved.target, of: id)
        if resolved.wasLast { isOver.signal() }
    }

    /// Waits until all is resolved.
    /// - Throws: `DeliveryError.notDeliveredInTime`, `.threadEnded` or `.dropped`.
    func wait(notification: String?, limit: Duration) throws(DeliveryError) {
        let isPending = state.withLock { !$0.pending.isEmpty }
        if isPending {
            _ = isOver.wait(timeout: .now() + .nanoseconds(ContinuousClock.Instant.after(limit).nanosecondsFromNow))
        }
        ThreadWaits.end(id)
        let (pending, ended, dropped) = state.withLock { state in
            (state.pending.sorted { $0.key < $1.key }.map(\.value.description), state.ended, state.dropped)
        }
        if !pending.isEmpty { throw .notDeliveredInTime(pending: pending, after: limit) }
        if let ended { throw .threadEnded(thread: ended) }
        if !dropped.isEmpty { throw .dropped(notification: notification ?? "a block", observers: dropped.sorted()) }
    }
}
