/// How values are distributed: times in nanoseconds, or numbers.
///
/// A percentile is the smallest of the values that so many of them are no greater than; of more than a thousand values,
/// rounded up by less than a thousandth.
public struct Distribution: Sendable, Hashable, Encodable {
    public var count: Int
    public var sum: UInt64
    public var p50: UInt64
    public var p90: UInt64
    public var p99: UInt64
    public var p999: UInt64
    /// As it was measured.
    public var max: UInt64
    /// How many were over `Distribution.highest`, and count as that in the percentiles.
    public var countOver: Int

    /// The highest value of percentiles: a day in nanoseconds.
    public static let highest: UInt64 = 86_400_000_000_000

    public var mean: Double { count == 0 ? 0 : Double(sum) / Double(count) }
}
