internal import Dispatch

/// A posting thread that waits for room in a bounded mailbox.
final class RoomWaiter: Sendable {
    private struct State {
        var isAwake = false
        var wait: WaitGraph.WaitID?
    }

    private let state = Locked(State())
    private let room = DispatchSemaphore(value: 0)

    /// Waits until woken or the deadline has passed.
    /// - Throws: `DeliveryError.waitWouldDeadlock`.
    func wait(
        for targets: [WaitGraph.Target], waitsFor: String, until deadline: ContinuousClock.Instant,
        at place: SourcePlace
    ) throws(DeliveryError) {
        // Begun with the lock held: once woken, it must not seem to wait.
        let wait = try state.withLock { state throws(DeliveryError) -> WaitGraph.WaitID? in
            if state.isAwake { return nil }
            state.wait = try ThreadWaits.begin(for: targets, waitsFor: waitsFor, at: place)
            return state.wait
        }
        guard let wait else { return }
        _ = room.wait(timeout: .now() + .nanoseconds(deadline.nanosecondsFromNow))
        ThreadWaits.end(wait)
    }

    func wake() {
        let wait = state.withLock { state in
            state.isAwake = true
            return state.wait
        }
        // First, else whoever made room would seem to be waited for still.
        if let wait { ThreadWaits.end(wait) }
        room.signal()
    }
}
