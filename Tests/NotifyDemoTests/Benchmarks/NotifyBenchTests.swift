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
}
