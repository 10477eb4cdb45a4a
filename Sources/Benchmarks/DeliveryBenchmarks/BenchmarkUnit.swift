/// What a workload's figures count, for one of its operations.
package enum BenchmarkUnit: Sendable, Hashable {
    case nanoseconds(per: String)
    case bytes(per: String)
    case allocations(per: String)

    /// Whether it can be what an operation cost: something always takes time, but may do without memory.
    func isFigure(_ figure: Double) -> Bool {
        if case .nanoseconds = self, figure == 0 { return false }
        return figure.isFinite && figure >= 0
    }

    /// Such as `ns per notification`.
    package var description: String {
        switch self {
        case .nanoseconds(let operation): "ns per \(operation)"
        case .bytes(let operation): "bytes per \(operation)"
        case .allocations(let operation): "allocations per \(operation)"
        }
    }
}
