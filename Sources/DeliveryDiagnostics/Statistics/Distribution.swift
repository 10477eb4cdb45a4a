/// The distribution of times in nanoseconds.
///
/// The p-th percentile is the smallest value such that p percent of the values are no greater.
package struct Distribution: Sendable, Hashable, Encodable {
    package let count: Int
    package let p50: UInt64
    package let p99: UInt64
    package let max: UInt64

    package init?(of values: [UInt64]) {
        let sorted = values.sorted()
        guard let max = sorted.last else { return nil }
        func percentile(_ percent: Int) -> UInt64 { sorted[(sorted.count * percent + 99) / 100 - 1] }
        (count, p50, p99, self.max) = (sorted.count, percentile(50), percentile(99), max)
    }
}
