import DeliveryDiagnostics
import DeliveryRecording
import XCTest

@testable import Scenarios

final class OverflowScenarioTests: ScenarioTestCase {
    private let scenario = OverflowScenario()

    func testTheReportIsTheSameEachTime() throws {
        let report = """
            policy      posted  delivered  coalesced  dropped  which
            unbounded   8       8          0          0        1 2 3 4 5 6 7 8
            dropOldest  8       3          0          5        6 7 8
            dropNewest  8       3          0          5        1 2 3
            keepLatest  8       2          6          0        7 8
            refuse      8       3          0          5        1 2 3
            block       8       3          0          5        1 2 3
            """
        for _ in 1...2 { XCTAssertEqual(scenario.report(on: try records(of: scenario)), report) }
    }

    // Each expectation is broken once, to show that it can fail.

    func testADeliveryThatDoesNotWaitIsDetected() throws {
        try assert(scenario, fails: ["nothing delivered while the target was busy"]) {
            $0[try $0.indexOfDelivery()].sequence = 1
        }
    }

    func testADeliveryThatThePolicyExcludesIsDetected() throws {
        // Two posts exchange their outcomes, so that each still has one.
        let cases = [
            ("unbounded: delivered 1 2 3 4 5 6 7 8", (1, 2)), ("dropOldest: delivered 6 7 8", (5, 6)),
            ("dropNewest: delivered 1 2 3", (3, 4)), ("keepLatest: delivered 7 8", (6, 7)),
            ("refuse: delivered 1 2 3", (3, 4)), ("block: delivered 1 2 3", (3, 4)),
        ]
        for (policy, (claim, pair)) in cases.enumerated() {
            try assert(scenario, fails: [claim]) { records in
                let observer = records.filter { $0.stage == .register }[policy].observer
                let posts = records.filter { $0.stage == .post }.compactMap(\.post)
                let (one, other) = (posts[pair.0 - 1], posts[pair.1 - 1])
                for index in records.indices where records[index].observer == observer && records[index].stage.isOutcome
                {
                    if records[index].post == one {
                        records[index].post = other
                    } else if records[index].post == other {
                        records[index].post = one
                    }
                }
            }
        }
    }

    func testADropInsteadOfCoalescingIsDetected() throws {
        try assert(scenario, fails: ["keepLatest: delivered 7 8", "the library's counters agree with the records"]) {
            records in
            records[try records.indexOfRecord { $0.stage == .coalesce }].stage = .drop
        }
    }

    func testASecondOutcomeIsDetected() throws {
        try assert(scenario, fails: ["each post has one outcome"]) { records in
            records.append(records[try records.indexOfRecord { $0.stage == .drop }])
        }
    }

    func testAMiscountIsDetected() throws {
        try assert(scenario, fails: ["the library's counters agree with the records"]) { try $0.miscount() }
    }
}
