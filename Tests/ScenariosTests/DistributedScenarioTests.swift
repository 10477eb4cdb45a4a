import ChildProcesses
import DeliveryDiagnostics
import DeliveryRecording
import DistributedNotifications
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import Scenarios

/// The distributed scenarios, with the built program as the second process. Each claim is broken once, to show that it
/// can fail.
final class DistributedScenarioTests: XCTestCase {
    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(component: "notify-demo").path

    private func environment(_ child: ChildProgram? = nil, timeout: Duration = TestTimeout.hang) -> ScenarioEnvironment
    {
        ScenarioEnvironment(
            timeout: timeout,
            program: child ?? ChildProgram(path: Self.program))
    }

    private func records(of scenario: any Scenario) throws -> [DeliveryRecord] {
        let environment = environment()
        try scenario.perform(in: environment)
        XCTAssertNil(DeliveryEvent.tracer, "\(scenario.name) still records")
        return environment.recorder.records
    }

    private func failures(of scenario: any Scenario, _ records: [DeliveryRecord]) -> [String] {
        scenario.expectations(of: records, options: ScenarioOptions()).filter { !$0.holds }.map(\.claim)
    }

    /// Runs the scenario, and checks that each change of its records fails exactly these claims.
    private func check(
        _ scenario: any Scenario, _ changes: [(fails: [String], change: (inout [DeliveryRecord]) throws -> Void)]
    ) throws {
        let good = try records(of: scenario)
        XCTAssertEqual(failures(of: scenario, good), [])
        for (claims, change) in changes {
            var records = good
            try change(&records)
            XCTAssertEqual(failures(of: scenario, records), claims)
        }
    }

    private func indexOfLog(_ records: [DeliveryRecord], _ prefix: String) throws -> Int {
        try records.indexOfRecord("nothing says \(prefix)") { $0.message?.hasPrefix(prefix) == true }
    }

    func testPostsOfOneProcessAreHandledInBothAndEachBrokenClaimIsDetected() throws {
        let once = "both processes handle each post once, in the order posted"
        let userInfo = "the userInfo arrives as posted"
        let sender = "the sender is the process that posted"
        try check(
            DistributedScenario(),
            [
                (
                    ["handled in both processes, each on its main thread"],
                    {
                        let index = try $0.indexOfRecord {
                            $0.stage == .deliver && $0.notification == TestNotification.name
                        }
                        $0[index].thread = ScenarioTestCase.anotherThread
                    }
                ),
                ([once, sender, userInfo], { $0.remove(at: try self.indexOfLog($0, "handled 1")) }),
                (
                    [sender],
                    {
                        let index = try self.indexOfLog($0, "handled 1")
                        $0[index].message = $0[index].message?.replacing(/process \d+/, with: "process 1")
                    }
                ),
                (
                    [userInfo],
                    {
                        let index = try self.indexOfLog($0, "handled 1")
                        $0[index].message = $0[index].message?.replacing("2.5", with: "3")
                    }
                ),
                (
                    ["posting did not wait for the observers"],
                    {
                        $0[try self.indexOfLog($0, "entering")].sequence = 0
                    }
                ),
            ])
    }

    func testEachCellOfTheTableAndEachRuleCanFail() throws {
        let scenario = SuspensionScenario()
        let good = try records(of: scenario)
        XCTAssertEqual(failures(of: scenario, good), [])
        let report = try XCTUnwrap(scenario.report(on: good))
        XCTAssertTrue(report.hasSuffix("all as documented"), report)
        XCTAssertTrue(report.split(separator: "\n").allSatisfy { $0.count <= 78 }, report)
        for trial in SuspensionTable.all {
            var records = good
            let begin = try records.indexOfMessage(trial.title)
            let handled = try XCTUnwrap(
                records[begin...].firstIndex { $0.message?.hasPrefix("handled ") == true }, trial.title)
            records[handled].message? += " 9"
            XCTAssertEqual(failures(of: scenario, records), ["\(trial.title): \(trial.claim)"])
            XCTAssertEqual(scenario.report(on: records)?.hasSuffix("\nnot as documented: [\"\(trial.title)\"]"), true)
        }
    }

    func testTheTableHasFourRowsOfThreeAndUniqueTitles() {
        XCTAssertEqual(SuspensionTable.cells.count, 4)
        XCTAssertTrue(SuspensionTable.cells.allSatisfy { $0.count == 3 })
        XCTAssertEqual(SuspensionTable.titles.count, SuspensionTable.all.count, "two have the same title")
    }

    func testAKilledServerIsReplacedAndEachBrokenClaimIsDetected() throws {
        let order = "handled at most once, in the order posted"
        try check(
            ServerRestartScenario(),
            [
                (
                    ["the observer's process sees an interruption, then the new server"],
                    {
                        $0.remove(at: try $0.indexOfMessage("interrupted"))
                    }
                ),
                (
                    ["still suspended: the new server holds until resumption"],
                    {
                        let (resumed, handled) = (try $0.indexOfMessage("resumed"), try $0.indexOfMessage("handled 3"))
                        ($0[resumed].message, $0[handled].message) = ($0[handled].message, $0[resumed].message)
                    }
                ),
                (
                    ["the notifications held by the old server are lost, with an event"],
                    {
                        $0[try $0.indexOfMessage("resumed")].message = "resumed"
                        let index = try $0.indexOfMessage("handled 3")
                        var second = $0[index]
                        second.message = "handled 2"
                        $0.insert(second, at: index)
                    }
                ),
                (
                    [order],
                    {
                        let index = try $0.indexOfMessage("handled 4")
                        $0.insert($0[index], at: index)
                    }
                ),
                (
                    ["registered again: later posts are handled"],
                    {
                        $0.remove(at: try $0.indexOfMessage("handled 4"))
                    }
                ),
            ])
    }

    func testNoRecordsAreNotEnough() {
        for scenario: any Scenario in [DistributedScenario(), SuspensionScenario(), ServerRestartScenario()] {
            let expectations = scenario.expectations(of: [], options: ScenarioOptions())
            XCTAssertTrue(expectations.allSatisfy { !$0.holds }, "\(expectations.filter(\.holds).map(\.claim))")
        }
    }

    func testASecondProcessThatCannotStartEndsOrHangsIsAnErrorAndLeavesNoDirectory() throws {
        let before = try directories()
        func error(_ child: ChildProgram, timeout: Duration = TestTimeout.hang) -> ScenarioError? {
            do {
                try DistributedScenario().perform(in: environment(child, timeout: timeout))
                return nil
            } catch {
                return error as? ScenarioError
            }
        }
        XCTAssertEqual(
            error(ChildProgram(path: "/nonexistent")),
            .child(problem: "cannot run /nonexistent: No such file or directory"))
        XCTAssertEqual(
            error(ChildProgram(path: "/bin/true")),
            .child(problem: "ended before it had finished a command"))
        XCTAssertEqual(
            error(ChildProgram(path: "/bin/sh", arguments: ["-c", "exec sleep 600"]), timeout: .seconds(2)),
            .timedOut(waitingFor: "the second process", after: .seconds(2)))
        XCTAssertEqual(try directories(), before)
    }

    /// The directories that this process's scenarios have in `/tmp`.
    private func directories() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/tmp").filter {
            $0.hasPrefix("notify-demo-\(getpid())-")
        }
        .sorted()
    }
}
