import SharedTesting
import XCTest

@testable import notify_bench

final class BenchmarkRunTests: XCTestCase {
    func testEachRoundMeasuresEveryContenderOnceAndBeginsWithAnotherOne() {
        let run = DrawnRun()
        _ = run.perform(
            [.drawn(operations: 1...1, contenders: ["a", "b", "c"].map { run.contender($0, cost: 10) })], rounds: 4)
        let warmUp = ["a", "b", "c"]
        let rounds = ["a", "b", "c", "b", "c", "a", "c", "a", "b", "a", "b", "c"]
        XCTAssertEqual(run.events, warmUp + rounds + ["end a", "end b", "end c"])
    }

    func testARoundLasts60MsAtAnyCostOfAnOperationButRespectsAWorkloadsBounds() throws {
        for cost in [1, 45, 3_000, 40_000] as [Int64] {
            let run = DrawnRun()
            _ = run.perform([.drawn(contenders: [run.contender("a", cost: cost, fixed: 5_000)])])
            let operations = try XCTUnwrap(run.operations["a"])
            XCTAssertEqual(Set(operations.suffix(7)).count, 1)
            XCTAssertTrue((54_000_000...60_000_000).contains(Int64(operations[operations.count - 1]) * cost))
            let warmUp = operations.dropLast(7).map { Int64($0) * cost }.reduce(0, +)
            XCTAssertLessThanOrEqual(warmUp, 120_000_000, "to find out takes no longer than two rounds")
        }
        let run = DrawnRun()
        let contenders = [run.contender("fast", cost: 1), run.contender("slow", cost: 1_000_000_000)]
        _ = run.perform([.drawn(operations: 10...1000, contenders: contenders)])
        XCTAssertEqual(run.operations["fast"]?.last, 1000)
        XCTAssertEqual(run.operations["slow"]?.allSatisfy { $0 == 10 }, true)
    }

    func testRoundsAreShorterIfThereAreManyContendersAndTheRunEndsWithinFourMinutesOrAFewSecondsIfItIsQuick() {
        for (isQuick, count, limit) in [(false, 1000, 240_000_000_000), (true, 100, 5_000_000_000)] {
            let run = DrawnRun()
            let contenders = (0..<count).map { run.contender("\($0)", cost: 5_000) }
            let results = run.perform([.drawn(contenders: contenders)], isQuick: isQuick)
            XCTAssertLessThan(run.now, Int64(limit))
            XCTAssertTrue(results.flatMap(\.contenders).allSatisfy { $0.figures.count == (isQuick ? 3 : 7) })
        }
    }

    func testAContenderThatFailsHasNoFurtherTurnsSaysWhyIsEndedOnceAndDisturbsNoOther() throws {
        for call in [1, 5] {
            let run = DrawnRun()
            let workload = Workload.drawn(
                operations: 3...3,
                contenders: [run.contender("a", cost: 10, failing: call), run.contender("b", cost: 20)])
            let result = try XCTUnwrap(run.perform([workload]).first)
            XCTAssertEqual(run.events.count { $0 == "a" }, call)
            XCTAssertEqual(run.events.count { $0 == "end a" }, 1)
            XCTAssertEqual(result.contenders.map(\.problem), ["3 were posted and 2 handled.", nil])
            // The warm-up does not count.
            XCTAssertEqual(result.contenders.map(\.figures.count), [max(0, call - 2), 7])
            XCTAssertEqual(result.best, (call == 1 ? "b" : "a"))
        }
        // One that cannot be created.
        let broken = Contender("broken") { _ in throw BenchmarkError.observersEnded }
        let run = DrawnRun()
        let result = try XCTUnwrap(run.perform([.drawn(contenders: [broken, run.contender("b", cost: 20)])]).first)
        XCTAssertEqual(result.contenders.first?.problem, "\(BenchmarkError.observersEnded)")
        XCTAssertEqual(result.contenders.last?.ratioToBest, 1)
    }

    func testASampleThatIsNoFigureIsRefusedAndZeroIsAnAmountOfMemoryButNoTime() throws {
        for sample in [
            Sample(operations: 9, total: 1), Sample(operations: 10, total: .nan), Sample(operations: 10, total: -1),
            Sample(operations: 10, total: 0), Sample(operations: 10, total: .infinity),
            Sample(operations: 10, total: 1, latencies: [1]),
        ] {
            assertThrows(BenchmarkError.self) { try sample.validate(operations: 10, in: "ns per operation") }
        }
        try Sample(operations: 10, total: 0).validate(operations: 10, in: "bytes per operation")
    }

    func testANameSelectsOneWorkloadAndANameWithoutItsNumberSelectsTheFamily() throws {
        XCTAssertEqual(Workloads.named("same-thread-1").map(\.name), ["same-thread-1"])
        XCTAssertEqual(Workloads.named("burst").map(\.name), ["burst-1", "burst-2", "burst-4", "burst-8"])
        XCTAssertEqual(Workloads.named("distributed").count, 6)
        XCTAssertTrue(Workloads.named("no such workload").isEmpty)
        XCTAssertEqual(Set(Workloads.names).count, Workloads.names.count)
        for (name, family) in [
            ("names-1000000", "names"), ("round-trip", "round-trip"), ("odd-", "odd-"), ("paced-100us", "paced"),
        ] {
            XCTAssertEqual(Workload.drawn(name).family, family)
        }
    }
}
