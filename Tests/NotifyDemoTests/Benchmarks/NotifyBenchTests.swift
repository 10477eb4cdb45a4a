import ChildProcesses
import Foundation
import SharedTesting
import XCTest

@testable import notify_bench

/// The output of `notify-bench`, apart from the measured values.
final class NotifyBenchTests: XCTestCase {
    private func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }

    func testQuickMeasuresTheNamedWorkloadsOnceInTheOrderOfTheArgumentsInJSONAsOneObject() async throws {
        let outcome = try Shell.run("notify-bench --quick round-trip same-thread-10 same-thread --json")
        XCTAssertEqual(outcome.end, .exit(0), "\(outcome.errors)")
        XCTAssertEqual(lines(outcome.output).count, 1)
        let report = try XCTUnwrap(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
        XCTAssertEqual(report["schema"] as? Int, 1)
        XCTAssertEqual(report["rounds"] as? Int, 3)
        XCTAssertEqual(report["quick"] as? Bool, true)
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

    func testAUsageErrorNamesTheArgumentAndAValidOneAndAFullDiskIsAnError() throws {
        let cases = [
            ("brust", "Did you mean \"burst\"?"),
            ("burst xyzzy", "'notify-bench --list' lists them"),
            ("--rounds 0", "--rounds is 0, and must be from 1 to 1000"), ("--list --quick", "--list measures nothing"),
        ]
        let outcome = try Shell.run(
            cases.map { "notify-bench \($0.0) 2>&1; echo $?" }.joined(separator: "\necho next\n")
                + "\nnotify-bench --quick same-thread-1 > /dev/full; echo $? >&2")
        let refusals = outcome.output.components(separatedBy: "next\n")
        try require(refusals.count == cases.count, outcome.output)
        for ((arguments, says), refusal) in zip(cases, refusals) {
            XCTAssertTrue(refusal.contains(says) && refusal.hasSuffix("\n64\n"), "\(arguments): \(refusal)")
        }
        XCTAssertTrue(outcome.errors.contains("cannot write to standard output: No space left on device"))
        XCTAssertTrue(outcome.errors.hasSuffix("\n2\n"))
    }
}
