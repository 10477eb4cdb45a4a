import DeliveryRecording
import XCTest

@testable import Scenarios

final class ManyObserversScenarioTests: XCTestCase {
    private let scenario = ManyObserversScenario()

    func testExpectationsHoldForOtherNumbersOfPostersAndNotifications() throws {
        for (posters, notifications) in [(1, 1), (16, 50)] {
            var options = ScenarioOptions(notifications: notifications)
            options.posters = posters
            _ = try ScenarioCheck(scenario, options: options)
        }
        XCTAssertThrowsError(try ScenarioCheck(scenario, options: ScenarioOptions(notifications: 50_001))) {
            XCTAssertEqual(
                $0 as? ScenarioError,
                .optionOutOfRange(option: "--notifications", value: "50001", range: "1 to 50000"))
        }
    }

    func testEachExpectationCanFailAndTheReportHasALineForEachThread() throws {
        let check = try ScenarioCheck(scenario)
        let report = try XCTUnwrap(scenario.report(on: check.records))
        XCTAssertTrue(
            report.hasPrefix(
                """
                thread  observers  handled by each  total
                A       1 4 7 10   100 100 100 100  400
                B       2 5 8 11   100 100 100 100  400
                C       3 6 9 12   100 100 100 100  400
                posts 100 by 4 threads, signals
                """), report)
        let (each, once) = ("each post handled once for each observer", "none lost, none duplicated")
        XCTAssertEqual(
            scenario.expectations(of: check.records, options: ScenarioOptions(notifications: 101))
                .filter { !$0.holds }.map(\.claim), [each])
        try check.fails(each, once, "the library's counters agree with the records") {
            $0.remove(at: try $0.indexOfDelivery())
        }
        try check.fails(once) { $0.append($0[try $0.indexOfDelivery()]) }
        // To an observer that is not registered.
        try check.fails(each, once, "each handled on its observer's thread") { records in
            var record = records[try records.indexOfDelivery()]
            (record.observer, record.thread) = (1_000_000, ScenarioCheck.anotherThread)
            records.append(record)
        }
        try check.fails("each handled on its observer's thread") {
            $0[try $0.indexOfDelivery()].thread = ScenarioCheck.anotherThread
        }
        try check.fails("each poster's order kept for each observer") { records in
            let poster = records[try records.index(.post)].thread
            let posts = records.indices.filter { records[$0].stage == .post && records[$0].thread == poster }
            records[posts[0]].sequence = records[posts[1]].sequence + 1
        }
        try check.fails("observers on one thread called in the order registered") { records in
            let first = try records.indexOfDelivery()
            let (post, thread) = (records[first].post, records[first].thread)
            let second = try XCTUnwrap(
                records.lastIndex { $0.stage == .deliver && $0.post == post && $0.thread == thread })
            (records[first].observer, records[second].observer) = (records[second].observer, records[first].observer)
        }
        try check.failsIfMiscounted()
    }
}
