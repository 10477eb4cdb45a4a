import XCTest

@testable import DeliveryDiagnostics

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

    // Each expectation is broken once, to see that it can fail.

    func testADeliveryThatDoesNotWaitIsSeen() throws {
        try assert(scenario, fails: ["nothing delivered while the target was busy"]) {
            $0[try $0.placeOfDelivery()].sequence = 1
        }
    }

    func testAnotherDeliveryThanThePolicySaysIsSeen() throws {
        // Two posts change places, so that each has a fate still, and not its own.
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
                for place in records.indices where records[place].observer == observer && records[place].stage.isFate {
                    if records[place].post == one {
                        records[place].post = other
                    } else if records[place].post == other {
                        records[place].post = one
                    }
                }
            }
        }
    }

    func testACoalescingThatIsDroppingIsSeen() throws {
        try assert(scenario, fails: ["keepLatest: delivered 7 8", "counted by the library as recorded"]) { records in
            records[try records.place { $0.stage == .coalesce }].stage = .drop
        }
    }

    func testASecondFateIsSeen() throws {
        try assert(scenario, fails: ["each has one fate"]) { records in
            records.append(records[try records.place { $0.stage == .drop }])
        }
    }

    func testAMiscountIsSeen() throws {
        try assert(scenario, fails: ["counted by the library as recorded"]) { try $0.miscount() }
    }
}
