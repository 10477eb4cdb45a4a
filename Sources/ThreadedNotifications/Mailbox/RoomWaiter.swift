/// A posting thread that waits for room in a bounded mailbox.
final class RoomWaiter: Sendable {
    private struct State {
        var isAwake = false
        var wait: (id: WaitGraph.WaitID, targets: [WaitGraph.Target])?
    }

    private let state = Locked(State())
    private let room = MonotonicSemaphore()

    /// Waits until woken or the deadline has passed.
    /// - Throws: `DeliveryError` with the code `waitWouldDeadlock`.
    func wait(
        for targets: [WaitGraph.Target], on target: ThreadIdentity?, waitsFor: String,
        until deadline: SuspendingClock.Instant, at location: SourceLocation
    ) throws(DeliveryError) {
        let wait = ThreadWaits.wait(for: targets, on: target, waitsFor: waitsFor, at: location)
        // Begun with the lock held, so that a woken thread never counts as waiting.
        let begun = state.withLock { state -> Result<WaitGraph.WaitID, DeliveryError>? in
            if state.isAwake { return nil }
            let begun = ThreadWaits.begin(wait)
            if case .success(let id) = begun { state.wait = (id, targets) }
            return begun
        }
        guard let begun else { return }
        ThreadWaits.trace(begun, of: wait)
        let id = try begun.get()
        let isAwake = room.wait(until: deadline)
        ThreadWaits.end(id, timedOut: !isAwake)
    }

    func wake() {
        let wait = state.withLock { state in
            state.isAwake = true
            return state.wait
        }
        // Before the thread is woken, so that it does not count as waiting any longer.
        for target in wait?.targets ?? [] { ThreadWaits.complete(target, of: wait!.id) }
        room.signal()
    }
}
