/// Thresholds above which an observation becomes a finding.
package struct DiagnosisLimits: Sendable, Hashable {
    /// How long a handler may occupy the main thread.
    package var mainBudget: ElapsedTime
    /// How many notifications may wait for one thread.
    package var depth: Int
    /// How long a thread may stay in one handler, or ignore what waits for it, while others continue.
    package var stall: ElapsedTime
    /// How many times in a row a handler may cause its own next call.
    package var chain: Int

    package init(
        mainBudget: ElapsedTime = .milliseconds(16), depth: Int = 1000, stall: ElapsedTime = .milliseconds(1000),
        chain: Int = 100
    ) {
        (self.mainBudget, self.depth, self.stall, self.chain) = (mainBudget, depth, stall, chain)
    }
}
