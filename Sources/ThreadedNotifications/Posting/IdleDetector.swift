/// Decides when a run loop would wait, as a pure value that is told what the run loop does.
///
/// A run loop that announces that it will wait need not: a timer may be due, a descriptor ready, the main queue or a block
/// pending, and of these it tells nobody. So it is sent round once more; if it comes to wait again after one pass, in which
/// it handled what it looks for before it waits, the main queue last, a probe is put among what can wake it, behind all that is
/// ready. If the probe is what wakes it, nothing was ready: it did wait. Only the main queue is asked no more once it was
/// found empty; what reaches it in that moment comes after what is idle.
///
///     restless ──would wait: go round──► settling ──would wait, after one pass: arm──► armed ──probe woke it──► idle
///        ▲                                  │                                           │
///        └─── posted, run begins or ends ───┴──────────── another pass ────────────────┘
struct IdleWatch {
    enum Action: Equatable {
        /// Wake the run loop, so that it does not wait yet.
        case goRound
        /// Put the probe among what can wake it.
        case arm
    }

    enum Phase: Equatable {
        case restless
        case settling(passes: Int)
        case armed
    }

    private(set) var phase = Phase.restless

    /// Something was posted, or the run loop was entered or left: start over.
    mutating func isDisturbed() {
        phase = .restless
    }

    /// The run loop begins another pass.
    mutating func passBegins() {
        switch phase {
        case .restless: break
        case .settling(let passes): phase = .settling(passes: passes + 1)
        // Something else woke it.
        case .armed: phase = .restless
        }
    }

    /// The run loop announces that it will wait, and something is to be posted when it does.
    mutating func wouldWait() -> Action {
        // More than one pass: in between it handled a source or the main queue, without an announcement.
        if phase == .settling(passes: 1) {
            phase = .armed
            return .arm
        }
        phase = .settling(passes: 0)
        return .goRound
    }

    /// The probe woke the run loop.
    /// - Returns: whether nothing else could have.
    mutating func probeReturned() -> Bool {
        defer { phase = .restless }
        return phase == .armed
    }
}
