import DistributedNotifications
import Foundation
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// The distributed scenarios, with the built program as the second process; and each claim broken once, to see that it
/// can fail.
final class DistributedScenarioTests: XCTestCase {
    private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(component: "notify-demo").path

    private func environment(_ child: ChildProgram? = nil, limit: Duration = TestLimit.hang) -> ScenarioEnvironment {
        ScenarioEnvironment(
            limit: limit,
            distributedChild: child ?? ChildProgram(path: Self.program, arguments: ["distributed-child"]))
    }

    private func records(of scenario: any Scenario) throws -> [DeliveryRecord] {
        let environment = environment()
        try scenario.perform(in: environment)
        XCTAssertNil(DeliveryEvent.tracer, "\(scenario.name) goes on recording")
        return environment.recorder.records
    }

    private func failures(of scenario: any Scenario, _ records: [DeliveryRecord]) -> [String] {
        scenario.expectations(of: records, options: ScenarioOptions()).filter { !$0.holds }.map(\.claim)
    }

    /// Runs it, and checks that each change fails the claims that it should, and no others.
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

    private func placeOfLog(_ records: [DeliveryRecord], _ prefix: String) throws -> Int {
        try records.place("nothing says \(prefix)") { $0.message?.hasPrefix(prefix) == true }
    }

    func testWhatOneProcessPostsIsHandledInBothAndEachBrokenClaimIsSeen() throws {
        let once = "the poster's own observers get it too, and each once, in the order posted"
        let userInfo = "the userInfo arrives as posted"
        let sender = "the sender is the process that posted"
        try check(
            DistributedScenario(),
            [
                (
                    ["handled in both processes, each on its main thread"],
                    {
                        let place = try $0.place { $0.stage == .deliver && $0.notification == TestNotification.name }
                        $0[place].thread = ScenarioTestCase.anotherThread
                    }
                ),
                ([once, sender, userInfo], { $0.remove(at: try self.placeOfLog($0, "handled 1")) }),
                (
                    [sender],
                    {
                        let place = try self.placeOfLog($0, "handled 1")
                        $0[place].message = $0[place].message?.replacing(/process \d+/, with: "process 1")
                    }
                ),
                (
                    [userInfo],
                    {
                        let place = try self.placeOfLog($0, "handled 1")
                        $0[place].message = $0[place].message?.replacing("2.5", with: "3")
                    }
                ),
                (
                    ["posting did not wait for the observers"],
                    {
                        $0[try self.placeOfLog($0, "entering")].sequence = 0
                    }
                ),
            ])
    }

    func testEachCellOfTheTableAndEachRuleIsSeenToFail() throws {
        let scenario = SuspensionScenario()
        let good = try records(of: scenario)
        XCTAssertEqual(failures(of: scenario, good), [])
        let report = try XCTUnwrap(scenario.report(on: good))
        XCTAssertTrue(report.hasSuffix("all as ruled"), report)
        XCTAssertTrue(report.split(separator: "\n").allSatisfy { $0.count <= 78 }, report)
        for trial in SuspensionTable.all {
            var records = good
            let begin = try records.place(of: trial.title)
            let handled = try XCTUnwrap(
                records[begin...].firstIndex { $0.message?.hasPrefix("handled ") == true }, trial.title)
            records[handled].message? += " 9"
            XCTAssertEqual(failures(of: scenario, records), ["\(trial.title): \(trial.claim)"])
            XCTAssertEqual(scenario.report(on: records)?.hasSuffix("\nnot as ruled: [\"\(trial.title)\"]"), true)
        }
    }

    func testTheTableIsTheOneOfTheRules() {
        XCTAssertEqual(SuspensionTable.cells.count, 4)
        XCTAssertTrue(SuspensionTable.cells.allSatisfy { $0.count == 3 })
        XCTAssertEqual(SuspensionTable.titles.count, SuspensionTable.all.count, "two have the same title")
    }

    func testAKilledServerIsReplacedAndEachBrokenClaimIsSeen() throws {
        let order = "handled at most once, in the order posted"
        try check(
            ServerRestartScenario(),
            [
                (
                    ["the observer's process sees an interruption, then the new server"],
                    {
                        $0.remove(at: try $0.place(of: "interrupted"))
                    }
                ),
                (
                    ["suspended still: held by the new server until resumption"],
                    {
                        let (resumed, handled) = (try $0.place(of: "resumed"), try $0.place(of: "handled 3"))
                        ($0[resumed].message, $0[handled].message) = ($0[handled].message, $0[resumed].message)
                    }
                ),
                (
                    ["what the old server held is lost, as an interruption says"],
                    {
                        $0[try $0.place(of: "resumed")].message = "resumed"
                        let place = try $0.place(of: "handled 3")
                        var second = $0[place]
                        second.message = "handled 2"
                        $0.insert(second, at: place)
                    }
                ),
                (
                    [order],
                    {
                        let place = try $0.place(of: "handled 4")
                        $0.insert($0[place], at: place)
                    }
                ),
                (
                    ["registered again: what is posted later is handled"],
                    {
                        $0.remove(at: try $0.place(of: "handled 4"))
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

    func testASecondProcessThatCannotStartEndsOrHangsIsAnErrorAndNothingIsLeft() throws {
        let before = try places()
        func error(_ child: ChildProgram, limit: Duration = TestLimit.hang) -> ScenarioError? {
            do {
                try DistributedScenario().perform(in: environment(child, limit: limit))
                return nil
            } catch {
                return error as? ScenarioError
            }
        }
        XCTAssertEqual(
            error(ChildProgram(path: "/nonexistent")),
            .child(problem: "cannot run /nonexistent: No such file or directory"))
        XCTAssertEqual(
            error(ChildProgram(path: "/bin/true")), .child(problem: "ended before it had done what it was told"))
        XCTAssertEqual(
            error(ChildProgram(path: "/bin/sh", arguments: ["-c", "exec sleep 600"]), limit: .seconds(2)),
            .timedOut(waitingFor: "the second process", after: .seconds(2)))
        XCTAssertEqual(try places(), before)
    }

    /// What the scenarios of this process have in use at the moment.
    private func places() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/tmp").filter {
            $0.hasPrefix("notify-demo-\(getpid())-")
        }
        .sorted()
    }
}
