import DeliveryDiagnostics
import SharedTesting
import XCTest

@testable import DeliveryBenchmarks

final class BenchmarkRunTests: XCTestCase {
    func testEachRoundMeasuresEveryContenderOnceAndBeginsWithAnotherOne() {
        let run = DrawnRun()
        let once = 1...1
        _ = run.perform(
            [.drawn(operations: once, contenders: ["a", "b", "c"].map { run.contender($0, cost: 10) })], rounds: 4)
        let warmUp = ["a", "b", "c"]
        let rounds = ["a", "b", "c", "b", "c", "a", "c", "a", "b", "a", "b", "c"]
        XCTAssertEqual(run.events, warmUp + rounds + ["end a", "end b", "end c"])
    }

    func testARoundLasts60MsAtAnyCostOfAnOperation() throws {
        for cost in [1, 45, 3_000, 40_000] as [UInt64] { try roundLength(cost: cost) }
    }

    private func roundLength(cost: UInt64) throws {
        let run = DrawnRun()
        _ = run.perform([.drawn(contenders: [run.contender("a", cost: cost, fixed: 5_000)])])
        let operations = try XCTUnwrap(run.operations["a"])
        let last = operations.suffix(7)
        XCTAssertTrue(last.allSatisfy { $0 == last.first })
        let lasts = UInt64(try XCTUnwrap(last.first)) * cost
        XCTAssertTrue((54_000_000...60_000_000).contains(lasts))
        let warmUp = operations.dropLast(7).map { UInt64($0) * cost }.reduce(0, +)
        XCTAssertLessThanOrEqual(warmUp, 120_000_000, "to find out takes no longer than two rounds")
    }

    func testAWorkloadsBoundsAreRespectedEvenIfARoundIsThenShorterOrLonger() throws {
        let run = DrawnRun()
        _ = run.perform([
            .drawn(
                operations: 10...1000,
                contenders: [run.contender("fast", cost: 1), run.contender("slow", cost: 1_000_000_000)])
        ])
        XCTAssertEqual(run.operations["fast"]?.last, 1000)
        XCTAssertEqual(run.operations["slow"]?.allSatisfy { $0 == 10 }, true)
    }

    func testRoundsAreShorterIfThereAreManyContendersAndTheRunEndsWithinFourMinutes() {
        let run = DrawnRun()
        let contenders = (0..<1000).map { run.contender("\($0)", cost: 100) }
        let results = run.perform(
            (0..<10).map { .drawn("w\($0)", contenders: Array(contenders[$0 * 100..<$0 * 100 + 100])) })
        XCTAssertLessThan(run.now, 240_000_000_000)
        XCTAssertTrue(results.flatMap(\.contenders).allSatisfy { $0.figures.count == 7 })
    }

    func testAQuickRunOfAHundredContendersTakesAFewSecondsAtMost() {
        let run = DrawnRun()
        let contenders = (0..<100).map { run.contender("\($0)", cost: 5_000) }
        _ = BenchmarkRun(isQuick: true).perform([.drawn(contenders: contenders)], now: { run.now })
        XCTAssertLessThan(run.now, 5_000_000_000)
    }

    func testTheWarmUpDoesNotCountInTheFigures() throws {
        let run = DrawnRun()
        let result = try XCTUnwrap(run.perform([.drawn(contenders: [run.contender("a", cost: 45)])], rounds: 5).first)
        XCTAssertEqual(result.contenders.map(\.figures), [[45, 45, 45, 45, 45]])
        XCTAssertEqual(result.contenders.first?.median, 45)
    }

    func testAContenderThatFailsHasNoFurtherTurnsSaysWhyIsEndedOnceAndDisturbsNoOther() throws {
        for call in [1, 5] { try failure(at: call) }
    }

    private func failure(at call: Int) throws {
        let run = DrawnRun()
        let workload = Workload.drawn(
            operations: 3...3,
            contenders: [run.contender("a", cost: 10, failing: call), run.contender("b", cost: 20)])
        let result = try XCTUnwrap(run.perform([workload]).first)
        XCTAssertEqual(run.events.count { $0 == "a" }, call)
        XCTAssertEqual(run.events.count { $0 == "end a" }, 1)
        XCTAssertEqual(result.contenders.map(\.problem), ["3 were posted and 2 handled.", nil])
        XCTAssertEqual(result.contenders.map(\.figures.count), [max(0, call - 2), 7])
        XCTAssertEqual(result.best, (call == 1 ? "b" : "a"))
    }

    func testAContenderThatCannotBeCreatedReportsTheReason() throws {
        let run = DrawnRun()
        let broken = Contender("broken") { _ in
            throw BenchmarkError.timedOut(waitingFor: "its threads", after: .seconds(10))
        }
        let result = try XCTUnwrap(run.perform([.drawn(contenders: [broken, run.contender("b", cost: 20)])]).first)
        XCTAssertEqual(result.contenders.first?.problem?.hasPrefix("waited 10.0 seconds for its threads"), true)
        XCTAssertNil(result.contenders.first?.median)
        XCTAssertEqual(result.contenders.last?.ratioToBest, 1)
    }

    func testWhatIsNoFigureIsNotTakenForOne() {
        for sample in [
            Sample(operations: 9, total: 1), Sample(operations: 10, total: .nan), Sample(operations: 10, total: -1),
            Sample(operations: 10, total: 0),
            Sample(operations: 10, total: .infinity), Sample(operations: 10, total: 1, latencies: [1]),
        ] { noFigure(sample: sample) }
    }

    private func noFigure(sample: Sample) {
        assertThrows(BenchmarkError.self) { try sample.validate(operations: 10, in: .nanoseconds(per: "operation")) }
    }

    func testZeroIsAValidAmountOfMemoryButNotAValidTime() throws {
        try Sample(operations: 10, total: 0).validate(operations: 10, in: .allocations(per: "operation"))
    }
}
