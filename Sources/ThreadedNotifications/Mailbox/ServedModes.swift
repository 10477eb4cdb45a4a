/// Which lanes of a mailbox the thread's run loop serves in the mode that it runs in, as far as it was asked; only that thread
/// touches it. A lane that is served in a mode is for as long as there is the run loop; one that is not may be later.
struct DeliverableLanes {
    private var mode: RunningMode?
    /// A bit for each of the first 64.
    private var lanes: UInt64 = 0

    /// - Parameter ask: whether the run loop serves it.
    @inline(__always)
    mutating func contains(_ lane: Int, ask: () -> Bool) -> Bool {
        let current = RunningMode.current
        if let mode, mode.isSame(as: current) {
            if lane < 64, lanes & (1 << lane) != 0 { return true }
        } else {
            mode = current
            lanes = 0
        }
        guard ask() else { return false }
        if lane < 64 { lanes |= 1 << lane }
        return true
    }
}
