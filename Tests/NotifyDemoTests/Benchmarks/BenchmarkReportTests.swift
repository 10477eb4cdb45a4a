import XCTest

@testable import notify_bench

final class BenchmarkReportTests: XCTestCase {
    private static func report() -> BenchmarkReport {
        let burst = WorkloadResult.drawn(
            named: "burst-1", [("control", [28.04]), ("ours", [65.04, 64, 66]), ("addObserver(queue:)", [37214])])
        var latencies = [UInt64](repeating: 4_810, count: 100)
        (latencies[98], latencies[99]) = (8_120, 41_000)
        let sample = Sample(operations: 100, total: 470_000, latencies: latencies, processorTime: 1_000_000)
        let trip = WorkloadResult(
            .drawn("round-trip", control: "eventfd"),
            [
                ContenderResult(name: "eventfd", operations: 100, samples: [sample]),
                ContenderResult(name: "broken", operations: 10, samples: [], problem: "10 were posted and 9 handled."),
            ])
        return .drawn([burst, trip])
    }

    func testTheTextHasTheConditionsATableForEachWorkloadAndTheErrors() {
        XCTAssertEqual(
            Self.report().text(width: 100),
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
        for width in [80, 200] {
            XCTAssertTrue(Self.report().text(width: width).split(separator: "\n").allSatisfy { $0.count <= width })
        }
        XCTAssertEqual(Self.report().problems, ["round-trip, broken: 10 were posted and 9 handled."])
    }

    func testRatiosAreOfMediansToTheBaselineAndToTheBestContender() {
        for (control, ours, ofControl, ofBest) in [
            (28.0, 56.0, [1, 2, 10], [nil, 1, 5]), (0, 0, [nil, nil, nil], [nil, nil, nil]),
        ] as [(Double, Double, [Double?], [Double?])] {
            let result = WorkloadResult.drawn([("control", [control]), ("ours", [ours]), ("other", [280])])
            XCTAssertEqual(result.best, "ours")
            XCTAssertEqual(result.contenders.map(\.ratioToControl), ofControl)
            XCTAssertEqual(result.contenders.map(\.ratioToBest), ofBest)
        }
    }
}
