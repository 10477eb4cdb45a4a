import ChildProcesses
import DeliveryRecording
import DistributedNotifications
import Foundation
import SharedTesting
import XCTest

@testable import Scenarios

/// The distributed scenarios, with the built program as the second process.
final class DistributedScenarioTests: XCTestCase {
    private func environment(
        _ program: ChildProgram? = nil, timeout: Duration = TestTimeout.hang
    ) -> ScenarioEnvironment {
        let directory = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        return ScenarioEnvironment(
            timeout: timeout, program: program ?? ChildProgram(path: directory.appending(component: "notify-demo").path)
        )
    }

    func testEachExpectationOfDistributedCanFail() throws {
        let check = try ScenarioCheck(DistributedScenario(), in: environment())
        let once = "both handle each post once, in the order posted, with its sender and userInfo"
        let first = try check.records.index { $0.message?.hasPrefix("handled 1") == true }
        try check.fails("handled in both processes, each on its main thread") {
            $0[try $0.index(.deliver, Notification.Name.test.rawValue)].thread = ScenarioCheck.anotherThread
        }
        try check.fails(once) { $0.remove(at: first) }
        try check.fails(once) {
            $0[first].message = $0[first].message?.replacing(/process \d+/, with: "process 1")
        }
        try check.fails(once) { $0[first].message = $0[first].message?.replacing("2.5", with: "3") }
        try check.fails("posting did not wait for the observers") {
            $0[try $0.index(of: "entering the run loop")].sequence = 0
        }
    }

    func testEachCellOfTheSuspensionTableAndEachRuleCanFail() throws {
        XCTAssertEqual(SuspensionTable.cells.map(\.count), [3, 3, 3, 3])
        XCTAssertEqual(
            Set(SuspensionTable.all.map(\.title)).count, SuspensionTable.all.count, "two have the same title")
        let check = try ScenarioCheck(SuspensionScenario(), in: environment())
        let report = try XCTUnwrap(check.scenario.report(on: check.records))
        XCTAssertFalse(report.contains("(NOT"), report)
        XCTAssertTrue(report.split(separator: "\n").allSatisfy { $0.count <= 78 }, report)
        for trial in SuspensionTable.all {
            try check.fails("\(trial.title): \(trial.claim)") { records in
                let seen = try XCTUnwrap(records.firstIndex { $0.message?.hasPrefix("\(trial.title): ") == true })
                records[seen].message? += " 9"
                let report = check.scenario.report(on: records)
                XCTAssertEqual(report?.contains(" 9 (NOT \(trial.expected))"), true, trial.title)
            }
        }
    }

    func testASecondProcessThatCannotStartEndsOrHangsIsAnErrorAndLeavesNoDirectory() throws {
        func directories() throws -> Set<String> {
            let own = "notify-demo-\(getpid())-"
            return Set(try FileManager.default.contentsOfDirectory(atPath: "/tmp").filter { $0.hasPrefix(own) })
        }
        let before = try directories()
        for (program, timeout, expected): (ChildProgram, Duration, ScenarioError) in [
            (
                ChildProgram(path: "/nonexistent"), TestTimeout.hang,
                .child(problem: "cannot run /nonexistent: No such file or directory")
            ),
            (
                ChildProgram(path: "/bin/true"), TestTimeout.hang,
                .child(problem: "ended before it had finished a command")
            ),
            (
                ChildProgram(path: "/bin/sh", arguments: ["-c", "exec sleep 600"]), .seconds(2),
                .timedOut(waitingFor: "the second process", after: .seconds(2))
            ),
        ] {
            XCTAssertThrowsError(try DistributedScenario().perform(in: environment(program, timeout: timeout))) {
                XCTAssertEqual($0 as? ScenarioError, expected)
            }
        }
        XCTAssertEqual(try directories(), before)
    }
}
