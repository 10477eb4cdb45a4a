/// The unit of a workload's figures, for one operation.
package enum BenchmarkUnit: Sendable, Hashable {
    case nanoseconds(per: String)
    case bytes(per: String)
    case allocations(per: String)

    /// True if an operation can have this cost. Time is never zero, but the amount of memory may be.
    func isFigure(_ figure: Double) -> Bool {
        if case .nanoseconds = self, figure == 0 { return false }
        return figure.isFinite && figure >= 0
    }

    /// For example `ns per notification`.
    package var description: String {
        switch self {
        case .nanoseconds(let operation): "ns per \(operation)"
        case .bytes(let operation): "bytes per \(operation)"
        case .allocations(let operation): "allocations per \(operation)"
        }
    }
}
