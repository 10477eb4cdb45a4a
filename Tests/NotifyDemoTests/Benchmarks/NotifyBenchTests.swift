import ChildProcesses
import Foundation
import SharedTesting
import XCTest

@testable import notify_bench

/// The output of `notify-bench`, apart from the measured values.
final class NotifyBenchTests: XCTestCase {
    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    func testQuickMeasuresTheNamedWorkloadsOnceInTheOrderOfTheArgumentsInJSONAsOneObject() async throws {
        let core = ProcessorCores.available.first ?? 0
        let outcome = try Shell.run("notify-bench --quick round-trip same-thread-10 same-thread --json --pin \(core)")
        XCTAssertEqual(outcome.end, .exit(0), "\(outcome.errors)")
        XCTAssertEqual(lines(outcome.output).count, 1)
        let report = try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        XCTAssertEqual(report["schema"] as? Int, 1)
        XCTAssertEqual(report["rounds"] as? Int, 3)
        XCTAssertEqual(report["quick"] as? Bool, true)
        XCTAssertEqual(report["pin"] as? [Int], [core])
        let workloads = try XCTUnwrap(report["workloads"] as? [[String: Any]])
        let family = Workloads.named("same-thread").map(\.name).filter { $0 != "same-thread-10" }
        XCTAssertEqual(workloads.compactMap { $0["name"] as? String }, ["round-trip", "same-thread-10"] + family)
        for workload in workloads {
            for contender in try XCTUnwrap(workload["contenders"] as? [[String: Any]]) {
                let name = "\(workload["name"] ?? ""), \(contender["name"] ?? "")"
                XCTAssertEqual((contender["figures"] as? [Double])?.count, 3, "\(name)")
                XCTAssertNil(contender["problem"], "\(name)")
            }
        }
    }

    func testAFullDiskIsAnErrorWithAMessage() async throws {
        let outcome = try Shell.run("notify-bench --quick same-thread-1 > /dev/full")
        XCTAssertEqual(outcome.end, .exit(2))
        XCTAssertTrue(outcome.errors.contains("cannot write to standard output: No space left on device"))
    }

    func testAUsageErrorNamesTheArgumentAndAValidOne() async throws {
        for (arguments, says) in [
            ("brust", "Did you mean \"burst\"?"),
            ("burst xyzzy", "'notify-bench --list' lists them"),
            ("--rounds 0", "--rounds is 0, and must be from 1 to 1000"),
            ("--rounds 1001", "must be from 1 to 1000"),
            ("--pin 4096", "--pin names core 4096, and this process may run on "),
            ("--pin 0,", "must be one core or two"),
            ("--pin 0,0,0", "must be one core or two"),
            ("--list --quick", "--list measures nothing"),
        ] {
            let outcome = try Shell.run("notify-bench \(arguments)")
            XCTAssertEqual(outcome.end, .exit(64))
            XCTAssertEqual(outcome.output, "")
            XCTAssertTrue(outcome.errors.contains(says), "\(outcome.errors)")
        }
    }
}
