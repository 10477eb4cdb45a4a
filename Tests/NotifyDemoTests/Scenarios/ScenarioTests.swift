import ChildProcesses
import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import Scenarios

/// The scenarios of the document's technique, and errors of all.
final class ScenarioTests: XCTestCase {
    private static func options(posters: Int, notifications: Int, dropSignals: Double = 0.9) -> ScenarioOptions {
        var options = ScenarioOptions(notifications: notifications)
        (options.posters, options.dropSignals) = (posters, dropSignals)
        return options
    }

    func testAFloodWithAnyDropsLosesNothing() throws {
        for (drop, dropped) in [(0, 0), (0.5, 1976), (1, 4000)] {
            let options = Self.options(posters: 8, notifications: 4000, dropSignals: drop)
            let check = try ScenarioCheck(FloodScenario(), options: options)
            XCTAssertEqual(check.records.count { $0.stage == .signal || $0.stage == .dropSignal }, 4001)
            // The seed repeats the signals that are lost.
            XCTAssertEqual(check.records.count { $0.stage == .dropSignal }, dropped)
        }
        // Without its records, by the tally that the recorder keeps.
        let environment = ScenarioEnvironment(
            recorder: DeliveryRecorder(keepsAll: false), options: Self.options(posters: 2, notifications: 4000))
        try FloodScenario().perform(in: environment)
        let run = environment.recorder.run
        XCTAssertFalse(run.isComplete)
        XCTAssertEqual(Set(run.records.map(\.stage)), [.log])
        XCTAssertEqual(
            FloodScenario().expectations(of: run, options: environment.options).compactMap(\.failure), [])
        XCTAssertEqual(FloodScenario().report(on: run)?.hasSuffix("handled 4000"), true)
        // Fewer notifications than posters.
        _ = try ScenarioCheck(FloodScenario(), options: Self.options(posters: 8, notifications: 1))
    }

    func testEachExpectationOfAFloodCanFail() throws {
        let check = try ScenarioCheck(FloodScenario(), options: ScenarioOptions(notifications: 100))
        let none = "none lost, none duplicated, none on a wrong thread"
        let signal = "one signal for each redirected post, and one more"
        try check.fails(none) { $0[try $0.index(.deliver)].thread = ScenarioCheck.anotherThread }
        try check.fails(none) { $0.remove(at: try $0.index(.deliver)) }
        try check.fails(none) { $0.append($0[try $0.index(.deliver)]) }
        try check.fails(none) { records in
            var unposted = records[try records.index(.deliver)]
            unposted.post = 1000
            records.append(unposted)
        }
        try check.fails(signal) { $0.remove(at: try $0.index(.dropSignal)) }
        try check.fails("each of the posts redirected once", signal) { $0.append($0[try $0.index(.capture)]) }
        try check.fails("each poster's order kept") { records in
            let poster = records[try records.index(.post)].thread
            let posts = records.filter { $0.stage == .post && $0.thread == poster }.map(\.post)
            records.exchange(posts[0], posts[1]) { $0.stage == .deliver }
        }
    }

    func testEachExpectationOfTheOtherScenariosOfOneObserverCanFail() throws {
        for (scenario, claim): (any Scenario, String) in [
            (PostingThreadScenario(), "posted in the background, handled on the posting thread"),
            (RedirectScenario(), "handled on the main thread"),
            (BackgroundObserverScenario(), "posted on main, handled on the worker"),
        ] {
            try ScenarioCheck(scenario).fails(claim) {
                $0[try $0.index(.deliver)].thread = ScenarioCheck.anotherThread
            }
        }
        let redirect = try ScenarioCheck(RedirectScenario())
        try redirect.fails("received on the posting thread, in the background") {
            $0[try $0.index(.capture)].thread = ScenarioCheck.anotherThread
        }
        try redirect.fails("the log has the structure of listing-2") {
            $0[try XCTUnwrap($0.lastIndex { $0.stage == .log })].message = "something else"
        }
        let held = try ScenarioCheck(HeldMessageScenario())
        try held.fails("signalled before the run loop runs") { $0[try $0.index(.signal)].sequence = $0.count }
        try held.fails("held until it runs, and handled there") { $0[try $0.index(.deliver)].sequence = 1 }
        try held.fails("handled in the order posted") {
            $0.exchange(1, 2) { $0.stage == .deliver }
        }
    }

    func testNoScenarioAcceptsNoRecords() {
        for scenario in ScenarioCatalog.all {
            let expectations = scenario.expectations(of: [], options: ScenarioOptions())
            XCTAssertEqual(expectations.filter(\.holds).map(\.claim), [], scenario.name)
        }
    }

    func testAScenarioOffTheMainThreadOrWithoutAProgramIsRefused() {
        let refused = expectation(description: "refused")
        Thread {
            do {
                try RedirectScenario().perform(in: ScenarioEnvironment())
            } catch ScenarioError.notOnMainThread {
                refused.fulfill()
            } catch {
                XCTFail("\(error)")
            }
        }.start()
        wait(for: [refused], timeout: TestTimeout.seconds)
        for scenario: any Scenario in [ObserverLifetimeScenario(), DistributedScenario(), SuspensionScenario()] {
            XCTAssertThrowsError(try scenario.perform(in: ScenarioEnvironment())) {
                XCTAssertEqual($0 as? ScenarioError, .noProgram)
            }
        }
    }

    func testALifetimeProcessThatCannotStartHangsOrWritesNoRecordsIsAnError() {
        func error(_ path: String, _ arguments: [String], timeout: Duration = TestTimeout.hang) -> ScenarioError? {
            let environment = ScenarioEnvironment(
                options: ScenarioOptions(capture: .weak), timeout: timeout,
                program: ChildProgram(path: path, arguments: arguments))
            do {
                try ObserverLifetimeScenario().perform(in: environment)
                return nil
            } catch {
                return error as? ScenarioError
            }
        }
        XCTAssertEqual(
            error("/nonexistent", []), .child(problem: "cannot run /nonexistent: No such file or directory"))
        guard case .child(let problem) = error("/bin/sh", ["-c", "echo nonsense"]) else {
            return XCTFail("took nonsense for records")
        }
        XCTAssertTrue(problem.hasPrefix("its output is not a recording: its output:1: "), problem)
        XCTAssertEqual(
            error("/bin/sh", ["-c", "exec sleep 600"], timeout: .milliseconds(50)),
            .timedOut(waitingFor: "a second process", after: .milliseconds(50)))
    }
}
