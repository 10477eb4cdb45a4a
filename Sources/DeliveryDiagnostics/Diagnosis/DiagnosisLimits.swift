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
        self.mainBudget = mainBudget
        self.depth = depth
        self.stall = stall
        self.chain = chain
    }
}

extension Duration {
    /// Clamped to 0 and the maximum.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : whole &+ UInt64(attoseconds / 1_000_000_000)
    }
}
