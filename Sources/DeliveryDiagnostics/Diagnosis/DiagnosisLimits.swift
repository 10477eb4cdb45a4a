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

    /// The name of its command-line option.
    enum Option: String, Sendable {
        case mainBudget = "main-budget"
        case depth, stall, chain
    }

    package init(
        mainBudget: Duration = .milliseconds(16), depth: Int = 1000, stall: Duration = .seconds(1),
        chain: Int = 100
    ) {
        self.mainBudget = mainBudget
        self.depth = depth
        self.stall = stall
        self.chain = chain
    }

    /// For example `--stall 1s`.
    func text(_ option: Option) -> String {
        let value =
            switch option {
            case .mainBudget: ElapsedTime.exact(ElapsedTime(mainBudget).nanoseconds)
            case .depth: "\(depth)"
            case .stall: ElapsedTime.exact(ElapsedTime(stall).nanoseconds)
            case .chain: "\(chain)"
            }
        return "--\(option.rawValue) \(value)"
    }
}

extension Duration {
    /// Clamped to 0...2⁶³.
    var nanoseconds: UInt64 { UInt64(min(max(0, self / .nanoseconds(1)), 0x1p63).rounded()) }
}
