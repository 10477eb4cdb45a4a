/// Thresholds above which an observation becomes a finding.
public struct DiagnosisLimits: Sendable, Hashable {
    /// How long a handler may occupy the main thread.
    public var mainBudget: Duration
    /// How many notifications may wait for one thread.
    public var depth: Int
    /// How long a thread may stay in one handler, or ignore what waits for it, while others continue.
    public var stall: Duration
    /// How many times in a row a handler may cause its own next call.
    public var chain: Int

    public init(
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
