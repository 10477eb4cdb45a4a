import DeliveryDiagnostics
import Testing

@testable import DeliveryBenchmarks

@Suite("Benchmark run")
struct BenchmarkRunTests {
    @Test("each round measures every contender once, and begins with another one")
    func order() {
        let run = DrawnRun()
        let once = 1...1
        _ = run.perform(
            [.drawn(operations: once, contenders: ["a", "b", "c"].map { run.contender($0, cost: 10) })], rounds: 4)
        let warmUp = ["a", "b", "c"]
        let rounds = ["a", "b", "c", "b", "c", "a", "c", "a", "b", "a", "b", "c"]
        #expect(run.events == warmUp + rounds + ["end a", "end b", "end c"])
    }

    @Test("a round lasts 60 ms, at any cost of an operation", arguments: [1, 45, 3_000, 40_000])
    func roundLength(cost: UInt64) throws {
        let run = DrawnRun()
        _ = run.perform([.drawn(contenders: [run.contender("a", cost: cost, fixed: 5_000)])])
        let operations = try #require(run.operations["a"])
        let last = operations.suffix(7)
        #expect(last.allSatisfy { $0 == last.first })
        let lasts = UInt64(try #require(last.first)) * cost
        #expect((54_000_000...60_000_000).contains(lasts))
        let warmUp = operations.dropLast(7).map { UInt64($0) * cost }.reduce(0, +)
        #expect(warmUp <= 120_000_000, "to find out takes no longer than two rounds")
    }

    @Test("a workload's bounds are respected, even if a round is then shorter or longer")
    func bounds() throws {
        let run = DrawnRun()
        _ = run.perform([
            .drawn(
                operations: 10...1000,
                contenders: [run.contender("fast", cost: 1), run.contender("slow", cost: 1_000_000_000)])
        ])
        #expect(run.operations["fast"]?.last == 1000)
        #expect(run.operations["slow"]?.allSatisfy { $0 == 10 } == true)
    }

    @Test("rounds are shorter if there are many contenders, and the run ends within four minutes")
    func budget() {
        let run = DrawnRun()
        let contenders = (0..<1000).map { run.contender("\($0)", cost: 100) }
        let results = run.perform(
            (0..<10).map { .drawn("w\($0)", contenders: Array(contenders[$0 * 100..<$0 * 100 + 100])) })
        #expect(run.now < 240_000_000_000)
        #expect(results.flatMap(\.contenders).allSatisfy { $0.figures.count == 7 })
    }

    @Test("a quick run of a hundred contenders takes a few seconds at most")
    func quick() {
        let run = DrawnRun()
        let contenders = (0..<100).map { run.contender("\($0)", cost: 5_000) }
        _ = BenchmarkRun(isQuick: true).perform([.drawn(contenders: contenders)], now: { run.now })
        #expect(run.now < 5_000_000_000)
    }

    @Test("the warm-up does not count in the figures")
    func figures() throws {
        let run = DrawnRun()
        let result = try #require(run.perform([.drawn(contenders: [run.contender("a", cost: 45)])], rounds: 5).first)
        #expect(result.contenders.map(\.figures) == [[45, 45, 45, 45, 45]])
        #expect(result.contenders.first?.median == 45)
    }

    @Test(
        "a contender that fails has no further turns, says why, is ended once, and disturbs no other",
        arguments: [1, 5])
    func failure(at call: Int) throws {
        let run = DrawnRun()
        let workload = Workload.drawn(
            operations: 3...3,
            contenders: [run.contender("a", cost: 10, failing: call), run.contender("b", cost: 20)])
        let result = try #require(run.perform([workload]).first)
        #expect(run.events.count { $0 == "a" } == call)
        #expect(run.events.count { $0 == "end a" } == 1)
        #expect(result.contenders.map(\.problem) == ["3 were posted and 2 handled.", nil])
        #expect(result.contenders.map(\.figures.count) == [max(0, call - 2), 7])
        #expect(result.best == (call == 1 ? "b" : "a"))
    }

    @Test("a contender that cannot be created reports the reason")
    func cannotBeMade() throws {
        let run = DrawnRun()
        let broken = Contender("broken") { _ in
            throw BenchmarkError.timedOut(waitingFor: "its threads", after: .seconds(10))
        }
        let result = try #require(run.perform([.drawn(contenders: [broken, run.contender("b", cost: 20)])]).first)
        #expect(result.contenders.first?.problem?.hasPrefix("waited 10.0 seconds for its threads") == true)
        #expect(result.contenders.first?.median == nil)
        #expect(result.contenders.last?.ratioToBest == 1)
    }

    @Test(
        "what is no figure is not taken for one",
        arguments: [
            Sample(operations: 9, total: 1), Sample(operations: 10, total: .nan), Sample(operations: 10, total: -1),
            Sample(operations: 10, total: 0),
            Sample(operations: 10, total: .infinity), Sample(operations: 10, total: 1, latencies: [1]),
        ])
    func noFigure(sample: Sample) {
        #expect(throws: BenchmarkError.self) { try sample.validate(operations: 10, in: .nanoseconds(per: "operation")) }
    }

    @Test("zero is a valid amount of memory, but not a valid time")
    func zero() throws {
        try Sample(operations: 10, total: 0).validate(operations: 10, in: .allocations(per: "operation"))
    }
}
