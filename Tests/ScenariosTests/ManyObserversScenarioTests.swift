import DeliveryDiagnostics
import DeliveryRecording
import XCTest

@testable import Scenarios

final class ManyObserversScenarioTests: ScenarioTestCase {
    private let scenario = ManyObserversScenario()

    func testExpectationsHoldForOtherNumbersOfPostersAndNotifications() throws {
        for (posters, notifications) in [(1, 1), (16, 50)] {
            let options = ScenarioOptions(posters: posters, notifications: notifications)
            XCTAssertEqual(failures(of: scenario, try records(of: scenario, options: options), options: options), [])
        }
    }

    func testMoreNotificationsThanTheMaximumAreRefused() {
        XCTAssertThrowsError(try records(of: scenario, options: ScenarioOptions(notifications: 50_001))) {
            XCTAssertEqual(
                $0 as? ScenarioError,
                .optionOutOfRange(option: "--notifications", value: "50001", range: "1 to 50000"))
        }
    }

    func testTheReportHasALineForEachThread() throws {
        let report = try XCTUnwrap(scenario.report(on: records(of: scenario)))
        let lines = report.split(separator: "\n")
        XCTAssertEqual(
            Array(lines.prefix(4)),
            [
                "thread  observers  handled by each  total",
                "A       1 4 7 10   100 100 100 100  400",
                "B       2 5 8 11   100 100 100 100  400",
                "C       3 6 9 12   100 100 100 100  400",
            ])
        XCTAssertTrue(lines[4].hasPrefix("posts 100 by 4 threads, signals "), report)
    }

    // Each expectation is broken once, to show that it can fail.

    func testAnotherNumberThanRequestedIsDetected() throws {
        let records = try records(of: scenario)
        XCTAssertEqual(
            failures(of: scenario, records, options: ScenarioOptions(notifications: 101)),
            ["each post handled once for each observer"])
    }

    func testALostAndADoubleDeliveryAreDetected() throws {
        try assert(
            scenario,
            fails: [
                "each post handled once for each observer", "none lost, none duplicated",
                "the library's counters agree with the records",
            ]
        ) { $0.remove(at: try $0.indexOfDelivery()) }
        try assert(scenario, fails: ["none lost, none duplicated"]) { $0.append($0[try $0.indexOfDelivery()]) }
    }

    func testADeliveryToAnObserverThatIsNotRegisteredIsDetected() throws {
        try assert(scenario, fails: ["none lost, none duplicated"]) { records in
            var record = records[try records.indexOfDelivery()]
            record.observer = 1_000_000
            record.thread = Self.anotherThread
            records.append(record)
        }
    }

    func testADeliveryOnAnotherThreadIsDetected() throws {
        try assert(scenario, fails: ["each handled on its observer's thread"]) {
            $0[try $0.indexOfDelivery()].thread = Self.anotherThread
        }
    }

    func testOvertakingOnOneThreadIsDetected() throws {
        try assert(scenario, fails: ["each poster's order kept for each observer"]) { records in
            let poster = try XCTUnwrap(records.first { $0.stage == .post }).thread
            let posts = records.indices.filter { records[$0].stage == .post && records[$0].thread == poster }
            records[posts[0]].sequence = records[posts[1]].sequence + 1
        }
    }

    func testAnotherOrderThanThatOfRegistrationIsDetected() throws {
        try assert(scenario, fails: ["observers on one thread called in the order registered"]) { records in
            let first = try records.indexOfDelivery()
            let (post, thread) = (records[first].post, records[first].thread)
            let second = try XCTUnwrap(
                records.lastIndex { $0.stage == .deliver && $0.post == post && $0.thread == thread })
            (records[first].observer, records[second].observer) = (records[second].observer, records[first].observer)
        }
    }

    func testAMiscountIsDetected() throws {
        try assert(scenario, fails: ["the library's counters agree with the records"]) { try $0.miscount() }
    }
}
