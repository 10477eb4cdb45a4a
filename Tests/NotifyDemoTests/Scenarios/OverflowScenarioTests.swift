import DeliveryRecording
import XCTest

@testable import Scenarios

final class OverflowScenarioTests: XCTestCase {
    func testEachExpectationCanFailAndTheReportIsAFunctionOfTheRecords() throws {
        let check = try ScenarioCheck(OverflowScenario())
        XCTAssertEqual(
            check.scenario.report(on: check.records),
            """
            policy      posted  delivered  coalesced  dropped  which
            unbounded   8       8          0          0        1 2 3 4 5 6 7 8
            dropOldest  8       3          0          5        6 7 8
            dropNewest  8       3          0          5        1 2 3
            keepLatest  8       2          6          0        7 8
            refuse      8       3          0          5        1 2 3
            """)
        try check.fails("nothing delivered while the target was busy") { $0[try $0.indexOfDelivery()].sequence = 1 }
        // Two posts exchange their outcomes for one observer, so that each still has one.
        let observers = check.records.filter { $0.stage == .register }.map(\.observer)
        let posts = check.records.filter { $0.stage == .post }.map(\.post)
        for (observer, (claim, one, other)) in zip(
            observers,
            [
                ("unbounded: delivered 1 2 3 4 5 6 7 8", 1, 2), ("dropOldest: delivered 6 7 8", 5, 6),
                ("dropNewest: delivered 1 2 3", 3, 4), ("keepLatest: delivered 7 8", 6, 7),
                ("refuse: delivered 1 2 3", 3, 4),
            ])
        {
            try check.fails(claim) {
                $0.exchange(posts[one - 1], posts[other - 1]) { $0.observer == observer && $0.stage.isOutcome }
            }
        }
        try check.fails("keepLatest: delivered 7 8", "the library's counters agree with the records") {
            $0[try $0.index(.coalesce)].stage = .drop
        }
        try check.fails("each post has one outcome") { $0.append($0[try $0.index(.drop)]) }
        try check.failsIfMiscounted()
    }
}
