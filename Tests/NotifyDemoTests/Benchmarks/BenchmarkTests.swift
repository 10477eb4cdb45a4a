import Foundation
import SharedTesting
import XCTest

@testable import notify_bench

/// Runs, reports and comparisons of benchmarks, with drawn figures; and `notify-bench` itself.
final class BenchmarkTests: XCTestCase {
    private static func workload(_ name: String = "drawn", control: String? = nil, _ contenders: [Contender] = [])
        -> Workload
    {
        Workload(
            name: name, summary: "something drawn", unit: "ns per operation", control: control, operations: 3...3,
            quickOperations: 3...3, contenders: contenders)
    }

    /// - Parameter figures: of each contender's rounds.
    private static func result(_ name: String, control: String? = "control", _ figures: [(String, [Double])])
        -> WorkloadResult
    {
        WorkloadResult(
            workload(name, control: control),
            figures.map { name, figures in
                let samples = figures.map { Sample(operations: 100, total: $0 * 100) }
                return ContenderResult(name: name, operations: 100, samples: samples)
            })
    }

    private static func report(_ workloads: [WorkloadResult]) -> BenchmarkReport {
        let machine = BenchmarkMachine(cores: 2, model: "AMD EPYC", load: 0.16, build: "release")
        return BenchmarkReport(BenchmarkRun(), machine: machine, seconds: 12.3, workloads: workloads)
    }

    private static func report(
        control: [Double] = [20], ours: [Double], others: [(String, [Double])] = []
    ) -> BenchmarkReport {
        report([result("burst-1", [("control", control), ("ours", ours)] + others)])
    }

    func testEachRoundBeginsWithAnotherContenderAndOneThatFailsSaysWhyAndHasNoFurtherTurns() throws {
        // Safety: the run makes and calls its subjects on this thread.
        nonisolated(unsafe) var events = ""
        let contenders = ["a", "b", "c"].map { name in
            Contender(name) { _ in
                Subject {
                    events += "end \(name) "
                } measure: { operations in
                    events += name
                    if events.hasSuffix("abcabcb") { throw BenchmarkError.miscounted(handled: 2, posted: operations) }
                    return Sample(operations: operations, total: 30)
                }
            }
        }
        let results = BenchmarkRun(rounds: 4).perform([Self.workload("drawn", contenders)], now: { 0 })
        // The warm-up, and four rounds.
        XCTAssertEqual(events, "abc" + "abc" + "bend b ca" + "ca" + "ac" + "end a end c ")
        XCTAssertEqual(results[0].contenders.map(\.problem), [nil, "3 were posted and 2 handled.", nil])
        XCTAssertEqual(results[0].contenders.map(\.figures.count), [4, 1, 4])
        for (total, isRefused) in [(0.0, true), (.nan, true), (-1, true), (.infinity, true), (1, false)] {
            let sample = Sample(operations: 10, total: total)
            XCTAssertEqual((try? sample.validate(operations: 10, in: "ns per operation")) == nil, isRefused, "\(total)")
        }
    }

    func testTheTextHasTheConditionsATableForEachWorkloadAndTheErrors() {
        var latencies = [UInt64](repeating: 4_810, count: 100)
        (latencies[98], latencies[99]) = (8_120, 41_000)
        let sample = Sample(operations: 100, total: 470_000, latencies: latencies, processorTime: 1_000_000)
        let trip = WorkloadResult(
            Self.workload("round-trip", control: "eventfd"),
            [
                ContenderResult(name: "eventfd", operations: 100, samples: [sample]),
                ContenderResult(name: "broken", operations: 10, samples: [], problem: "10 were posted and 9 handled."),
            ])
        let figures = [("control", [28.04]), ("ours", [65.04, 64, 66]), ("addObserver(queue:)", [37214])]
        XCTAssertEqual(
            Self.report([Self.result("burst-1", figures), trip]).text(width: 100),
            """
            AMD EPYC, 2 cores, load 0.16; release build; 7 rounds; 12.3 s

            burst-1: something drawn (ns per operation)
                                   median  spread  ×control  ×best
              control (control)      28.0       –      1.00      –
              ours                   65.0     2 %      2.32   1.00
              addObserver(queue:)   37214       –      1327    572

            round-trip: something drawn (ns per operation)
                                                                                    latency
                                 median  spread  ×control  ×best      p50      p99    p99.9  processor
              eventfd (control)    4700       –      1.00      –  4.81 µs  8.12 µs  41.0 µs    10.0 µs
              broken                  –       –         –      –        –        –        –          –
              broken: 10 were posted and 9 handled.
            """)
    }

    func testARowIsSlowerOrFasterIfItsRatioIsBeyondFivePercentAndTheSpreadsOfBothRuns() throws {
        for (before, control, now, verdict) in [
            ([100.0], 20.0, [106.0], BenchmarkComparison.Verdict.slower), ([100], 20, [104], .same),
            ([106], 20, [100], .faster), ([80, 100, 120], 20, [104, 130, 156], .slower),
            ([80, 100, 120], 20, [100, 125, 150], .same),
            // The machine is slower.
            ([100], 30, [150], .same),
        ] {
            let comparison = BenchmarkComparison(
                of: Self.report(control: [control], ours: now), with: Self.report(ours: before))
            let row = try XCTUnwrap(comparison.rows.first { $0.contender == "ours" })
            XCTAssertEqual(row.verdict, verdict, "\(before) \(now)")
        }
    }

    func testTheComparisonHasTheFiguresTheirRatioAMarkAndTheRowsThatOneRunDoesNotHave() throws {
        let before = Self.report(
            Self.report(ours: [100], others: [("gone", [1]), ("failed", [1]), ("free", [0])]).workloads
                + [Self.result("old-1", control: nil, [("ours", [1])])])
        let now = Self.report(ours: [150], others: [("new", [1]), ("failed", []), ("free", [1])])
        XCTAssertEqual(
            BenchmarkComparison(of: now, with: before).text(),
            """
                                        before   now  ratio  noise
            burst-1  control (control)    20.0  20.0   1.00    5 %
            burst-1  ours                  100   150   1.50    5 %  SLOWER
            burst-1  new                     –  1.00      –      –  not measured before
            burst-1  failed               1.00     –      –      –  not measured now
            burst-1  free                 0.00  1.00      –      –  a figure is zero
            burst-1  gone                 1.00     –      –      –  not measured now
            old-1    ours                 1.00     –      –      –  not measured now
            """)
    }

    func testNotifyBenchMeasuresTheNamedWorkloadsInTheirOrderAndComparesThemWithAFile() throws {
        let outcome = try Shell.inDirectory(
            """
            notify-bench --quick round-trip same-thread-1 --json | grep -o '"name":"[rs][a-z0-9-]*"'
            notify-bench --quick same-thread-1 --json > a; echo {} > empty; sed s/same-thread-1/gone/g a > gone
            sed 's/"schema":1/"schema":99/' a > later;
            # All figures but those of the control, which comes first. An earlier version wrote a field more.
            sed -E -e 's/"(median|spread)":[0-9.e-]*/"\\1":1e-9/3g' -e 's/"rounds"/"pin":[],"rounds"/' a > fast
            notify-bench --quick --compare fast | grep -o SLOWER | sort -u
            for file in fast /nowhere empty gone later; do notify-bench --quick --compare $file >b; echo $?; done
            """)
        XCTAssertEqual(
            outcome.output,
            "\"name\":\"round-trip\"\n\"name\":\"same-thread-1\"\nSLOWER\n1\n2\n64\n64\n64\n", outcome.errors)
        for says in [
            "cannot read /nowhere", "it is no report", "no workload of this program", "its schema is 99",
        ] { XCTAssertTrue(outcome.errors.contains(says), outcome.errors) }
    }
}
