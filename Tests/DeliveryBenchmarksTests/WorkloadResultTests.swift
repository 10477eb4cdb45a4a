import DeliveryDiagnostics
import XCTest

@testable import DeliveryBenchmarks

final class WorkloadResultTests: XCTestCase {
    static func result(
        _ name: String = "burst-4", control: String? = "control", figures: [(String, [Double])]
    ) -> WorkloadResult {
        WorkloadResult(
            .drawn(name, control: control),
            figures.map { ContenderResult(name: $0.0, operations: 100, figures: $0.1) })
    }

    func testQuartilesLieBetweenFiguresAsFarAsTheyMustWhateverTheOrder() throws {
        for (figures, lower, median, upper) in [
            ([5.0], 5.0, 5.0, 5.0), ([1, 2], 1.25, 1.5, 1.75), ([7, 1, 3, 5, 2, 6, 4], 2.5, 4, 5.5),
            ([4, 1, 3, 2], 1.75, 2.5, 3.25),
        ] { try quartiles(figures: figures, lower: lower, median: median, upper: upper) }
    }

    private func quartiles(figures: [Double], lower: Double, median: Double, upper: Double) throws {
        let quartiles = try XCTUnwrap(Quartiles(figures))
        XCTAssertEqual(quartiles.lower, lower)
        XCTAssertEqual(quartiles.median, median)
        XCTAssertEqual(quartiles.upper, upper)
        XCTAssertEqual(quartiles.spread, upper - lower)
    }

    func testAnEmptyListHasNoQuartiles() {
        XCTAssertNil(Quartiles([]))
        let result = ContenderResult(name: "a", operations: 1, figures: [])
        XCTAssertTrue(result.median == nil && result.least == nil && result.relativeSpread == nil)
    }

    func testASingleRoundHasNoSpread() {
        let result = ContenderResult(name: "a", operations: 1, figures: [45])
        XCTAssertEqual(result.median, 45)
        XCTAssertTrue(result.spread == nil && result.relativeSpread == nil)
    }

    func testADisturbedRoundChangesTheMedianAndTheSpreadLittle() throws {
        let result = ContenderResult(name: "a", operations: 1, figures: [100, 101, 99, 100, 5000, 100, 101])
        XCTAssertEqual(result.median, 100)
        XCTAssertEqual(result.spread, 1)
        XCTAssertEqual(result.most, 5000)
        XCTAssertEqual(result.relativeSpread, 0.01)
    }

    func testRatiosAreOfMediansToTheBaselineAndToTheBestContender() {
        let result = Self.result(figures: [("control", [28]), ("ours", [56, 56, 70]), ("other", [280])])
        XCTAssertEqual(result.best, "ours")
        XCTAssertEqual(result.contenders.map(\.ratioToControl), [1, 2, 10])
        XCTAssertEqual(result.contenders.map(\.ratioToBest), [nil, 1, 5])
    }

    func testWithoutABaselineOrWithOneThatCostsNothingThereIsNoRatioToIt() {
        let none = Self.result(control: nil, figures: [("ours", [50]), ("other", [100])])
        XCTAssertEqual(none.contenders.map(\.ratioToControl), [nil, nil])
        XCTAssertEqual(none.contenders.map(\.ratioToBest), [1, 2])
        let free = Self.result(figures: [("control", [0]), ("ours", [0]), ("other", [3])])
        XCTAssertEqual(free.contenders.map(\.ratioToControl), [nil, nil, nil])
        XCTAssertEqual(free.best, "ours")
        XCTAssertEqual(free.contenders.map(\.ratioToBest), [nil, nil, nil])
    }
}
