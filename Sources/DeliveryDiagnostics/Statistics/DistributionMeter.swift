internal import Histogram

/// Collects values and returns their distribution. Reusable.
///
/// Up to 1024 values are kept and sorted. More go to a histogram, which is slow to query and so too expensive for many
/// small groups.
struct DistributionMeter {
    static let mostKept = 1024

    private var kept: [UInt64] = []
    private var histogram: Histogram<UInt32>?
    private var count = 0
    private var sum: UInt64 = 0
    private var max: UInt64 = 0
    private var countOver = 0

    mutating func add(_ value: UInt64) {
        count += 1
        if value > Distribution.highest { countOver += 1 }
        max = Swift.max(max, value)
        let (total, isOver) = sum.addingReportingOverflow(value)
        sum = isOver ? .max : total
        // The size of a histogram grows with its values, and it traps on `UInt64.max`.
        let value = Swift.min(value, Distribution.highest)
        if histogram?.record(value) == nil { kept.append(value) }
        if kept.count > Self.mostKept {
            var histogram = Histogram<UInt32>(numberOfSignificantValueDigits: .three)
            for value in kept { histogram.record(value) }
            self.histogram = histogram
            kept.removeAll(keepingCapacity: true)
        }
    }

    /// The distribution of the values added since the last call; nil if there are none.
    mutating func take() -> Distribution? {
        guard count > 0 else { return nil }
        kept.sort()
        let distribution = Distribution(
            count: count, sum: sum, p50: percentile(500), p90: percentile(900), p99: percentile(990),
            p999: percentile(999), max: max, countOver: countOver)
        kept.removeAll(keepingCapacity: true)
        (histogram, count, sum, max, countOver) = (nil, 0, 0, 0, 0)
        return distribution
    }

    private func percentile(_ perMille: Int) -> UInt64 {
        if let histogram { return Swift.min(histogram.valueAtPercentile(Double(perMille) / 10), max) }
        return kept[(count * perMille + 999) / 1000 - 1]
    }
}
