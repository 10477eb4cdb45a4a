import Testing

@testable import DeliveryDiagnostics

@Suite("Distribution")
struct DistributionTests {
    @Test("no values have no distribution")
    func nothing() {
        #expect(Distribution(of: []) == nil)
    }

    @Test("a single value is every percentile", arguments: [0, 1, 12_345, UInt64.max])
    func one(value: UInt64) throws {
        let distribution = try #require(Distribution(of: [value]))
        #expect(distribution.count == 1 && distribution.sum == value && distribution.max == value)
        for percentile in [distribution.p50, distribution.p90, distribution.p99, distribution.p999] {
            #expect(percentile == value)
        }
    }

    @Test("percentiles are exact, in any order", arguments: [1000, 10_000])
    func percentiles(count: Int) throws {
        let values = (1...count).map { UInt64($0) * 12_345 }
        let distribution = try #require(Distribution(of: values.shuffled()))
        #expect(distribution.count == count)
        #expect(distribution.sum == values.reduce(0, +))
        #expect(distribution.max == values.last)
        #expect(distribution.p50 == values[count / 2 - 1])
        #expect(distribution.p90 == values[count * 9 / 10 - 1])
        #expect(distribution.p99 == values[count * 99 / 100 - 1])
        #expect(distribution.p999 == values[count * 999 / 1000 - 1])
    }

    @Test("a sum that is too large is the maximum integer")
    func overflow() throws {
        let distribution = try #require(Distribution(of: repeatElement(UInt64.max, count: 2000)))
        #expect(distribution.sum == .max && distribution.max == .max)
    }
}
