import DeliveryDiagnostics
import Foundation
import XCTest

@testable import DeliveryBenchmarks

final class BenchmarkReportTests: XCTestCase {
    private static let latency = Distribution(
        of: [(4812, 500), (5000, 400), (8123, 90), (41_000, 9), (90_000, 1)].flatMap { value, count in
            repeatElement(value, count: count)
        })

    private static func report(noise: [String] = [], pin: Int? = nil) -> BenchmarkReport {
        let bursts = ["burst-1", "burst-4"].map { name in
            WorkloadResultTests.result(
                name,
                figures: [
                    ("control", [28]), ("ThreadedNotificationCenter", [65.04, 64, 66]),
                    ("addObserver(queue:)", [37_214]),
                ])
        }
        let trip = WorkloadResult(
            .drawn("round-trip", control: "eventfd"),
            [
                ContenderResult(name: "eventfd", operations: 10, figures: [4700], latency: latency),
                ContenderResult(name: "RunLoop.perform and a wake", operations: 10, figures: [7100], latency: latency),
                ContenderResult(name: "broken", operations: 10, figures: [], problem: "10 were posted and 9 handled."),
            ])
        return BenchmarkReport(
            BenchmarkRun(conditions: BenchmarkConditions(postingCore: pin, targetCore: pin)),
            machine: BenchmarkMachine(cores: 2, model: "AMD EPYC", load: 0.16, build: "release"), seconds: 12.34,
            noise: noise, workloads: bursts + [trip])
    }

    func testTheTextHasATableForEachWorkloadWithLatenciesBelowTheFiguresOnNarrowTerminals() {
        XCTAssertEqual(
            Self.report().text(width: 80),
            """
            AMD EPYC, 2 cores, load 0.16; release build; 7 rounds; not pinned; 12.3 s

            burst-1: something drawn (ns per operation)
                                          median  spread  ×control  ×best
              control (control)             28.0       –      1.00      –
              ThreadedNotificationCenter    65.0     2 %      2.32   1.00
              addObserver(queue:)          37214       –      1329    572

            burst-4: something drawn (ns per operation)
                                          median  spread  ×control  ×best
              control (control)             28.0       –      1.00      –
              ThreadedNotificationCenter    65.0     2 %      2.32   1.00
              addObserver(queue:)          37214       –      1329    572

            round-trip: something drawn (ns per operation)
                                          median  spread  ×control  ×best
              eventfd (control)             4700       –      1.00      –
              RunLoop.perform and a wake    7100       –      1.51   1.00
              broken                           –       –         –      –
                                                            latency
                                              p50      p99    p99.9
              eventfd (control)           4.81 µs  8.12 µs  41.0 µs
              RunLoop.perform and a wake  4.81 µs  8.12 µs  41.0 µs
              broken                            –        –        –
              broken: 10 were posted and 9 handled.
            """)
    }

    func testTheProcessorTimeHasAColumnWhereItIsMeasured() throws {
        var report = Self.report()
        XCTAssertFalse(report.text(width: 100).contains("processor"))
        XCTAssertFalse(report.markdown(command: "notify-bench").contains("processor"))
        report.workloads[2].contenders[0].processorTime = 25_600
        XCTAssertTrue(report.text(width: 100).contains("p99.9  processor\n"))
        let rows = report.markdown(command: "notify-bench").split(separator: "\n")
        XCTAssertEqual(rows.filter { $0.contains("processor") }.count, 1)
        XCTAssertTrue(rows.contains { $0.contains("eventfd") && $0.hasSuffix("| 25.6 µs |") })
        XCTAssertTrue(rows.contains { $0.contains("broken") && $0.hasSuffix("| – |") })
    }

    func testNoLineIsWiderThanTheTerminalAndAWideTerminalHasLatenciesBesideTheFigures() {
        for width in [80, 100, 200] {
            let lines = Self.report().text(width: width).split(separator: "\n")
            XCTAssertTrue(lines.allSatisfy { $0.count <= width })
        }
        XCTAssertTrue(Self.report().text(width: 100).contains("×best      p50      p99    p99.9\n"))
    }

    func testMarkdownHasATableForEachFamilyTheCommandTheConditionsAndTheErrors() {
        let markdown = Self.report(noise: ["Other programs took all."], pin: 0).markdown(command: "notify-bench")
        XCTAssertEqual(
            markdown,
            """
            `notify-bench`: AMD EPYC, 2 cores, load 0.16; release build; 7 rounds; pinned to core 0; 12.3 s.

            - Noise: Other programs took all.
            - Failed: round-trip, broken: 10 were posted and 9 handled.

            | ns per operation |  | median | spread | ×control | ×best |
            | --- | --- | --: | --: | --: | --: |
            | burst-1 | control (control) | 28.0 | – | 1.00 | – |
            | burst-1 | ThreadedNotificationCenter | 65.0 | 2 % | 2.32 | 1.00 |
            | burst-1 | addObserver(queue:) | 37214 | – | 1329 | 572 |
            | burst-4 | control (control) | 28.0 | – | 1.00 | – |
            | burst-4 | ThreadedNotificationCenter | 65.0 | 2 % | 2.32 | 1.00 |
            | burst-4 | addObserver(queue:) | 37214 | – | 1329 | 572 |

            | ns per operation |  | median | spread | ×control | ×best | p50 | p99 | p99.9 |
            | --- | --- | --: | --: | --: | --: | --: | --: | --: |
            | round-trip | eventfd (control) | 4700 | – | 1.00 | – | 4.81 µs | 8.12 µs | 41.0 µs |
            | round-trip | RunLoop.perform and a wake | 7100 | – | 1.51 | 1.00 | 4.81 µs | 8.12 µs | 41.0 µs |
            | round-trip | broken | – | – | – | – | – | – | – |
            """)
    }

    func testJSONIsOneObjectWithItsSchemaTheMachineAndEveryFigureOfEveryRound() throws {
        let text = try JSONText.of(Self.report(pin: 0))
        XCTAssertFalse(text.contains("\n"))
        let object = try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        XCTAssertEqual(object["schema"] as? Int, 1)
        XCTAssertEqual((object["machine"] as? [String: Any])?["model"] as? String, "AMD EPYC")
        XCTAssertEqual(object["pin"] as? [Int], [0])
        XCTAssertEqual(object["quick"] as? Bool, false)
        let workloads = try XCTUnwrap(object["workloads"] as? [[String: Any]])
        XCTAssertEqual(workloads.map { $0["name"] as? String }, ["burst-1", "burst-4", "round-trip"])
        let contenders = try XCTUnwrap(workloads[0]["contenders"] as? [[String: Any]])
        XCTAssertEqual(contenders[1]["figures"] as? [Double], [65.04, 64, 66])
        XCTAssertEqual(contenders[1]["median"] as? Double, 65.04)
        let trip = try XCTUnwrap(workloads[2]["contenders"] as? [[String: Any]])
        XCTAssertEqual((trip[0]["latency"] as? [String: Any])?["p999"] as? Int, 41_000)
        XCTAssertEqual(trip[2]["problem"] as? String, "10 were posted and 9 handled.")
    }

    func testAnErrorNamesTheWorkloadAndTheContender() {
        XCTAssertEqual(Self.report().problems, ["round-trip, broken: 10 were posted and 9 handled."])
    }
}
