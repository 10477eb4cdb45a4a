/// The mode queues that a thread's run loop serves in its current mode, as far as CoreFoundation was asked.
///
/// A queue that is served in a mode stays served while the run loop exists. One that is not served may become so.
struct ServedModes {
    private var mode: RunningMode?
    /// A bit for each of the first 64 queues.
    private var queues: UInt64 = 0

    /// - Parameter ask: asks CoreFoundation whether the run loop serves the queue.
    @inline(__always)
    mutating func contains(_ queue: Int, ask: () -> Bool) -> Bool {
        let current = RunningMode.current
        if let mode, mode.isSame(as: current) {
            if queue < 64, queues & (1 << queue) != 0 { return true }
        } else {
            mode = current
            queues = 0
        }
        guard ask() else { return false }
        if queue < 64 { queues |= 1 << queue }
        return true
    }
}
