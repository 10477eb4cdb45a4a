import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import Scenarios

/// Runs each scenario on the main thread. Those with a second process are tested through the built program.
final class ScenarioTests: ScenarioTestCase {
    func testTheExpectationsOfEachScenarioInThisProcessHold() throws {
        let ofTwoProcesses = ["observer-lifetime", "distributed", "suspension", "server-restart"]
        for scenario in ScenarioCatalog.all where !ofTwoProcesses.contains(scenario.name) {
            XCTAssertEqual(failures(of: scenario, try records(of: scenario)), [], scenario.name)
        }
    }

    func testAFloodWithAnyDropsLosesNothing() throws {
        for drop in [0, 0.5, 1] {
            let options = ScenarioOptions(posters: 8, notifications: 4000, dropSignals: drop)
            let records = try records(of: FloodScenario(), options: options)
            XCTAssertEqual(failures(of: FloodScenario(), records, options: options), [])
            let counts = StageCounts(records)
            XCTAssertEqual(counts[.signal] + counts[.dropSignal], 4001)
            // The seed repeats the numbers.
            XCTAssertEqual(counts[.dropSignal], drop == 0 ? 0 : drop == 1 ? 4000 : 1998)
        }
    }

    func testFewerNotificationsThanPostersAreEnough() throws {
        let options = ScenarioOptions(posters: 8, notifications: 1)
        let records = try records(of: FloodScenario(), options: options)
        XCTAssertEqual(failures(of: FloodScenario(), records, options: options), [])
    }

    // Each expectation is broken once, to show that it can fail.

    func testADeliveryOnTheWrongThreadIsDetected() throws {
        for scenario: any Scenario in [
            PostingThreadScenario(), RedirectScenario(), BackgroundObserverScenario(), HeldMessageScenario(),
            FloodScenario(),
        ] {
            var records = try records(of: scenario)
            let index = try XCTUnwrap(records.lastIndex { $0.stage == .deliver })
            records[index].thread = ThreadIdentity(number: 99, name: nil, kernelID: 99)
            XCTAssertEqual(failures(of: scenario, records).count, 1, scenario.name)
        }
    }

    func testALostADoubleAndAnUnpostedDeliveryAreDetected() throws {
        let options = ScenarioOptions(notifications: 100)
        let good = try records(of: FloodScenario(), options: options)
        let index = try XCTUnwrap(good.firstIndex { $0.stage == .deliver })

        var lost = good
        lost.remove(at: index)
        XCTAssertEqual(
            failures(of: FloodScenario(), lost, options: options),
            ["none lost, none duplicated, none on a wrong thread"])
        var double = good
        double.append(good[index])
        XCTAssertEqual(
            failures(of: FloodScenario(), double, options: options),
            ["none lost, none duplicated, none on a wrong thread"])
        var unposted = good
        unposted.append(good[index])
        unposted[unposted.count - 1].post = 1000
        XCTAssertEqual(
            failures(of: FloodScenario(), unposted, options: options),
            ["none lost, none duplicated, none on a wrong thread"]
        )
    }

    func testOvertakingIsDetected() throws {
        for (scenario, options) in [
            (FloodScenario() as any Scenario, ScenarioOptions(posters: 1, notifications: 10)),
            (HeldMessageScenario(), ScenarioOptions()),
        ] {
            var records = try records(of: scenario, options: options)
            let indices = records.indices.filter { records[$0].stage == .deliver }
            let (first, second) = (indices[0], indices[1])
            (records[first].post, records[second].post) = (records[second].post, records[first].post)
            XCTAssertEqual(failures(of: scenario, records, options: options).count, 1, scenario.name)
        }
    }

    func testAMissingSignalAndAMissingPostAreDetected() throws {
        let options = ScenarioOptions(notifications: 100)
        var records = try records(of: FloodScenario(), options: options)
        records.remove(at: try XCTUnwrap(records.firstIndex { $0.stage == .dropSignal }))
        XCTAssertEqual(
            failures(of: FloodScenario(), records, options: options),
            ["one signal for each redirected post, and one more"])
        records.removeAll { $0.post == 1 }
        XCTAssertTrue(failures(of: FloodScenario(), records, options: options).contains("posted as many as requested"))
    }

    func testAPostAfterTheRunLoopRunsIsDetected() throws {
        var records = try records(of: HeldMessageScenario())
        let index = try XCTUnwrap(records.firstIndex { $0.stage == .post })
        records[index].sequence = records.count
        XCTAssertTrue(failures(of: HeldMessageScenario(), records).contains("posted before the run loop runs"))
    }

    func testALogOfAnotherStructureAndAnEmptyOneAreDetected() throws {
        var records = try records(of: RedirectScenario())
        let index = try XCTUnwrap(records.lastIndex { $0.stage == .log })
        records[index].message = "something else"
        XCTAssertEqual(failures(of: RedirectScenario(), records), ["the log has the structure of listing-2"])
        for scenario in ScenarioCatalog.all {
            let expectations = scenario.expectations(of: [], options: ScenarioOptions())
            XCTAssertTrue(expectations.contains { !$0.holds }, "\(scenario.name) accepts no records")
        }
        XCTAssertEqual(failures(of: RedirectScenario(), []).count, 4)
    }

    func testAScenarioOffTheMainThreadOrWithoutASecondProcessIsRefused() {
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
        for scenario: any Scenario in [
            ObserverLifetimeScenario(), DistributedScenario(), SuspensionScenario(), ServerRestartScenario(),
        ] {
            XCTAssertThrowsError(try scenario.perform(in: ScenarioEnvironment())) {
                XCTAssertEqual($0 as? ScenarioError, .noProgram)
            }
        }
    }
}
