/// What a workload's figures count, for one of its operations.
package enum BenchmarkUnit: Sendable, Hashable {
    case nanoseconds(per: String)
    case bytes(per: String)
    case allocations(per: String)

    /// Such as `ns per notification`.
    package var description: String {
        switch self {
        case .nanoseconds(let operation): "ns per \(operation)"
        case .bytes(let operation): "bytes per \(operation)"
        case .allocations(let operation): "allocations per \(operation)"
        }
    }
}
