internal import Histogram

/// Takes values and makes a distribution of them, again and again.
struct DistributionMeter {
    private var histogram = Self.empty
    private var sum: UInt64 = 0
    private var max: UInt64 = 0
    private var countOver = 0

    mutating func add(_ value: UInt64) {
        // The histogram grows with its values, and traps on the highest of all numbers.
        histogram.record(Swift.min(value, Distribution.highest))
        if value > Distribution.highest { countOver += 1 }
        max = Swift.max(max, value)
        let (total, isOver) = sum.addingReportingOverflow(value)
        sum = isOver ? .max : total
    }

    /// The distribution of what was added since the last one; nil if nothing was.
    mutating func take() -> Distribution? {
        guard histogram.totalCount > 0 else { return nil }
        func percentile(_ percentile: Double) -> UInt64 { Swift.min(histogram.valueAtPercentile(percentile), max) }
        let distribution = Distribution(
            count: Int(histogram.totalCount), sum: sum, p50: percentile(50), p90: percentile(90), p99: percentile(99),
            p999: percentile(99.9), max: max, countOver: countOver)
        histogram = Self.empty
        (sum, max, countOver) = (0, 0, 0)
        return distribution
    }

    /// One that is as small as its values let it be: to ask it, and to make it anew, takes time with its size.
    private static var empty: Histogram<UInt32> { Histogram(numberOfSignificantValueDigits: .three) }
}
