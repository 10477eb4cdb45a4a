import Testing

@testable import DeliveryDiagnostics

@Suite("Distribution meter")
struct DistributionMeterTests {
    private func distribution(of values: some Sequence<UInt64>) -> Distribution? {
        var meter = DistributionMeter()
        for value in values { meter.add(value) }
        return meter.take()
    }

    @Test("no values have no distribution")
    func nothing() {
        #expect(distribution(of: []) == nil)
    }

    @Test("a single value is every percentile", arguments: [0, 1, 12_345, Distribution.highest])
    func one(value: UInt64) {
        let expected = Distribution(
            count: 1, sum: value, p50: value, p90: value, p99: value, p999: value, max: value, countOver: 0)
        #expect(distribution(of: [value]) == expected)
    }

    @Test("few values are exact, in any order")
    func few() {
        let values = (1...1000).map { UInt64($0) * 12_345 }
        let expected = Distribution(
            count: 1000, sum: values.reduce(0, +), p50: values[499], p90: values[899], p99: values[989],
            p999: values[998], max: values[999], countOver: 0)
        #expect(distribution(of: values.reversed()) == expected)
    }

    @Test(
        "many values are accurate to 0.1 % and never too low",
        arguments: [DistributionMeter.mostKept + 1, 10_000, 100_000])
    func many(count: Int) throws {
        let values = (1...count).map { UInt64($0) * 12_345 }
        let many = try #require(distribution(of: values.shuffled()))
        #expect(many.count == count)
        #expect(many.max == values.last)
        for (perMille, value) in [(500, many.p50), (900, many.p90), (990, many.p99), (999, many.p999)] {
            let exact = values[(count * perMille + 999) / 1000 - 1]
            #expect(value >= exact)
            #expect(Double(value - exact) / Double(exact) < 0.001)
        }
    }

    @Test("values over a day count as a day, and the maximum integer does not trap", arguments: [1, 2000])
    func over(count: Int) throws {
        let many = try #require(distribution(of: repeatElement(UInt64.max, count: count)))
        #expect(many.countOver == count)
        #expect(many.max == .max)
        #expect(many.sum == .max)
        #expect(many.p50 >= Distribution.highest)
        #expect(Double(many.p50) < Double(Distribution.highest) * 1.001)
    }

    @Test("a meter starts empty after each distribution")
    func anew() {
        var meter = DistributionMeter()
        for value in 0...5000 as ClosedRange<UInt64> { meter.add(value) }
        #expect(meter.take()?.count == 5001)
        #expect(meter.take() == nil)
        meter.add(7)
        #expect(meter.take()?.p999 == 7)
    }
}
