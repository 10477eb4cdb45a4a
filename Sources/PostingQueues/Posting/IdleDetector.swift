/// Decides when a run loop is idle, as a pure value that is told about the run loop's activities.
///
/// A run loop that announces that it will wait may still have work: a timer that is due, a ready descriptor, the main
/// queue, a block. CoreFoundation does not report these. So the run loop makes another pass, in which it serves the
/// main queue last. If it announces to wait again after one pass, a probe is armed: a descriptor that became ready
/// after all others. If the probe is what wakes the run loop, nothing else was ready, and the run loop is idle. Work
/// that reaches the main queue after that pass is not detected, and comes after the idle notification.
///
///     busy ──will wait: make another pass──► confirming ──will wait after one pass: arm──► armed ──probe wakes──► idle
///       ▲                                        │                                           │
///       └───── posted, run begins or ends ───────┴──────────── another pass ─────────────────┘
struct IdleDetector {
    enum Action: Equatable {
        /// Wake the run loop, so that it makes another pass.
        case makeAnotherPass
        /// Arm the probe.
        case armProbe
    }

    enum Phase: Equatable {
        case busy
        case confirming(passes: Int)
        case armed
    }

    private(set) var phase = Phase.busy

    /// Starts over: a notification was posted, or a run began or ended.
    mutating func reset() {
        phase = .busy
    }

    /// A pass of the run loop begins.
    mutating func beginPass() {
        switch phase {
        case .busy: break
        case .confirming(let passes): phase = .confirming(passes: passes + 1)
        // Something other than the probe woke the run loop.
        case .armed: phase = .busy
        }
    }

    /// The run loop announces that it will wait, while idle notifications wait.
    mutating func runLoopWillWait() -> Action {
        // After more than one pass the run loop has handled a source or the main queue without announcing to wait.
        if phase == .confirming(passes: 1) {
            phase = .armed
            return .armProbe
        }
        phase = .confirming(passes: 0)
        return .makeAnotherPass
    }

    /// The probe woke the run loop.
    /// - Returns: whether the run loop is idle.
    mutating func probeDidWake() -> Bool {
        defer { phase = .busy }
        return phase == .armed
    }
}
