import DeliveryDiagnostics
import Testing

@testable import DeliveryBenchmarks

@Suite("Benchmark statistics")
struct WorkloadResultTests {
    static func result(
        _ name: String = "burst-4", control: String? = "control", figures: [(String, [Double])]
    ) -> WorkloadResult {
        WorkloadResult(
            .drawn(name, control: control),
            figures.map { ContenderResult(name: $0.0, operations: 100, figures: $0.1) })
    }

    @Test(
        "quartiles lie between figures as far as they must, whatever the order",
        arguments: [
            ([5.0], 5.0, 5.0, 5.0), ([1, 2], 1.25, 1.5, 1.75), ([7, 1, 3, 5, 2, 6, 4], 2.5, 4, 5.5),
            ([4, 1, 3, 2], 1.75, 2.5, 3.25),
        ])
    func quartiles(figures: [Double], lower: Double, median: Double, upper: Double) throws {
        let quartiles = try #require(Quartiles(figures))
        #expect(quartiles.lower == lower)
        #expect(quartiles.median == median)
        #expect(quartiles.upper == upper)
        #expect(quartiles.spread == upper - lower)
    }

    @Test("an empty list has no quartiles")
    func none() {
        #expect(Quartiles([]) == nil)
        let result = ContenderResult(name: "a", operations: 1, figures: [])
        #expect(result.median == nil && result.least == nil && result.relativeSpread == nil)
    }

    @Test("a single round has no spread")
    func oneRound() {
        let result = ContenderResult(name: "a", operations: 1, figures: [45])
        #expect(result.median == 45)
        #expect(result.spread == nil && result.relativeSpread == nil)
    }

    @Test("a disturbed round changes the median and the spread little")
    func outlier() throws {
        let result = ContenderResult(name: "a", operations: 1, figures: [100, 101, 99, 100, 5000, 100, 101])
        #expect(result.median == 100)
        #expect(result.spread == 1)
        #expect(result.most == 5000)
        #expect(result.relativeSpread == 0.01)
    }

    @Test("ratios are of medians: to the baseline, and to the best contender")
    func ratios() {
        let result = Self.result(figures: [("control", [28]), ("ours", [56, 56, 70]), ("other", [280])])
        #expect(result.best == "ours")
        #expect(result.contenders.map(\.ratioToControl) == [1, 2, 10])
        #expect(result.contenders.map(\.ratioToBest) == [nil, 1, 5])
    }

    @Test("without a baseline, or with one that costs nothing, there is no ratio to it")
    func withoutControl() {
        let none = Self.result(control: nil, figures: [("ours", [50]), ("other", [100])])
        #expect(none.contenders.map(\.ratioToControl) == [nil, nil])
        #expect(none.contenders.map(\.ratioToBest) == [1, 2])
        let free = Self.result(figures: [("control", [0]), ("ours", [0]), ("other", [3])])
        #expect(free.contenders.map(\.ratioToControl) == [nil, nil, nil])
        #expect(free.best == "ours")
        #expect(free.contenders.map(\.ratioToBest) == [nil, nil, nil])
    }
}
