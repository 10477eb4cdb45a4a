/// Thresholds above which an observation becomes a finding.
package struct DiagnosisLimits: Sendable, Hashable {
    /// How long a handler may occupy the main thread.
    package var mainBudget: Duration
    /// How many notifications may wait for one thread.
    package var depth: Int
    /// How long a thread may stay in one handler, or ignore what waits for it, while others continue.
    package var stall: Duration
    /// How many times in a row a handler may cause its own next call.
    package var chain: Int

    package init(
        mainBudget: Duration = .milliseconds(16), depth: Int = 1000, stall: Duration = .seconds(1), chain: Int = 100
    ) {
        (self.mainBudget, self.depth, self.stall, self.chain) = (mainBudget, depth, stall, chain)
    }
}

extension Duration {
    /// Clamped to 0...2⁶³.
    var nanoseconds: UInt64 { UInt64(min(max(0, self / .nanoseconds(1)), 0x1p63).rounded()) }
}
