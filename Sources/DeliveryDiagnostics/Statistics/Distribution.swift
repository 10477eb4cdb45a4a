/// The distribution of times in nanoseconds, or of numbers.
///
/// The p-th percentile is the smallest value such that p percent of the values are no greater. With more than 1024
/// values, percentiles are rounded up by less than 0.1 %.
public struct Distribution: Sendable, Hashable, Encodable {
    public var count: Int
    public var sum: UInt64
    public var p50: UInt64
    public var p90: UInt64
    public var p99: UInt64
    public var p999: UInt64
    /// Exact.
    public var max: UInt64
    /// The number of values above `Distribution.highest`, which count as `highest` in the percentiles.
    public var countOver: Int

    /// The highest value in percentiles: a day in nanoseconds.
    public static let highest: UInt64 = 86_400_000_000_000

    public var mean: Double { count == 0 ? 0 : Double(sum) / Double(count) }
}
