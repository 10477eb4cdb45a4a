/// The distribution of times in nanoseconds, or of numbers.
///
/// The p-th percentile is the smallest value such that p percent of the values are no greater.
package struct Distribution: Sendable, Hashable, Encodable {
    package var count: Int
    package var sum: UInt64
    package var p50: UInt64
    package var p90: UInt64
    package var p99: UInt64
    package var p999: UInt64
    package var max: UInt64

    package init?(of values: some Sequence<UInt64>) {
        let sorted = values.sorted()
        guard let max = sorted.last else { return nil }
        func percentile(_ perMille: Int) -> UInt64 { sorted[(sorted.count * perMille + 999) / 1000 - 1] }
        count = sorted.count
        sum = sorted.reduce(0) { sum, value in
            let (total, isOver) = sum.addingReportingOverflow(value)
            return isOver ? .max : total
        }
        (p50, p90, p99, p999) = (percentile(500), percentile(900), percentile(990), percentile(999))
        self.max = max
    }

    package var mean: Double { Double(sum) / Double(count) }
}
