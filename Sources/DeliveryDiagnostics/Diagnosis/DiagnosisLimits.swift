/// From where on something is a finding.
public struct DiagnosisLimits: Sendable, Hashable {
    /// How long a handler may keep the main thread.
    public var mainBudget: Duration
    /// How many notifications may wait for one thread.
    public var depth: Int
    /// How long a thread may leave what waits for it, or stay in one handler, while others go on.
    public var stall: Duration
    /// How long a chain of a handler's posts to itself may be.
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
    /// At most what fits, and at least 0.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        let (whole, overflow) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : whole &+ UInt64(attoseconds / 1_000_000_000)
    }
}
