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
        XCTAssertEqual(Workloads.named("distributed").count, 4)
        XCTAssertTrue(Workloads.named("no such workload").isEmpty)
        XCTAssertEqual(Set(Workloads.names).count, Workloads.names.count)
    }
}
