import DeliveryDiagnostics
import DeliveryRecording
import XCTest

@testable import Scenarios

final class PostingStylesScenarioTests: ScenarioTestCase {
    private let scenario = PostingStylesScenario()

    private let timeline = """
        step        1       5         10        15        20
        callout     [=====================]
        now                           o-*
        block                       o-------*
        asap              o-o-----------------*-*
        mailbox                   o---------------*
        main queue              o-------------------*
        timer                 o-----------------------*   o-*
        whenIdle      o-o-------------------------------*-----*
        o is handed over, - waits, * happens, [==] lasts
        """

    func testTheDrawingIsTheSameEachTimeAndFitsATerminal() throws {
        for _ in 1...5 { XCTAssertEqual(scenario.report(on: try records(of: scenario)), timeline) }
        XCTAssertTrue(timeline.split(separator: "\n").allSatisfy { "# \($0)".count < 80 })
    }

    func testTheDrawingIsAFunctionOfTheRecords() throws {
        var records = try records(of: scenario)
        records.swapAt(
            try records.indexOfRecord { $0.stage == .post && $0.notification == "now" },
            try records.indexOfMessage("performed: block"))
        let report = try XCTUnwrap(scenario.report(on: records))
        XCTAssertTrue(report.contains("\nnow                           o-----*\n"), report)
        XCTAssertTrue(report.contains("\nblock                       o---*\n"), report)
    }

    // Each expectation is broken once, to show that it can fail.

    func testANowThatIsPostedLaterIsDetected() throws {
        try assert(scenario, fails: ["now: posted before enqueue returns"]) { records in
            let index = try records.indexOfRecord { $0.stage == .post && $0.notification == "now" }
            records[index].sequence = records.count
        }
        try assert(scenario, fails: ["now: posted before enqueue returns"]) {
            $0[try $0.indexOfMessage("enqueued: now 1, posted")].message = "enqueued: now 1, waiting"
        }
    }

    func testAnAsapThatIsPostedInTheCalloutOrInTheNextPassIsDetected() throws {
        for (message, numbers) in [("the callout ends", [-1]), ("performed: mailbox", [1, 2])] {
            try assert(scenario, fails: ["asap: at the end of the callout's pass, before the next"]) {
                records in
                let end = records[try records.indexOfMessage(message)].sequence
                let posts = records.indices.filter { records[$0].stage == .post && records[$0].notification == "asap" }
                for (post, number) in zip(posts.reversed(), numbers.reversed()) {
                    records[post].sequence = end + number
                }
            }
        }
    }

    func testAnIdleOneThatIsPostedBeforeOtherWorkIsDetected() throws {
        for work in ["timer", "block", "mailbox", "main queue"] {
            var records = try records(of: scenario)
            records[try records.indexOfMessage("performed: \(work)")].sequence = records.count
            XCTAssertTrue(
                failures(of: scenario, records).contains("whenIdle: the first after all ready work"), work)
        }
        try assert(scenario, fails: ["whenIdle: the first after all ready work"]) {
            $0[try $0.indexOfMessage("performed: block")].message = "performed: nothing"
        }
    }

    func testASecondIdleOneThatDoesNotWaitIsDetected() throws {
        try assert(scenario, fails: ["whenIdle: the second after the work of the first"]) { records in
            let timer = try XCTUnwrap(records.lastIndex { $0.message == "performed: timer" })
            records[timer].sequence = records.count
        }
    }

    func testLastInFirstOutIsDetected() throws {
        for style in ["asap", "whenIdle"] {
            try assert(scenario, fails: ["first in, first out within each style"]) { records in
                let posts = records.filter { $0.stage == .post && $0.notification == style }.compactMap(\.post)
                for position in records.indices where records[position].stage != .enqueue {
                    if let index = posts.firstIndex(where: { $0 == records[position].post }) {
                        records[position].post = posts[1 - index]
                    }
                }
            }
        }
    }

    func testAHandlerOnAnotherThreadIsDetected() throws {
        try assert(scenario, fails: ["each handled once, on the main thread"]) {
            $0[try $0.indexOfDelivery()].thread = Self.anotherThread
        }
    }

    func testASecondOutcomeIsDetected() throws {
        try assert(
            scenario,
            fails: ["each enqueued notification has one outcome", "the library's counters agree with the records"]
        ) { records in
            var record = records[try records.indexOfRecord { $0.stage == .enqueue }]
            record.stage = .coalesce
            records.append(record)
        }
    }

    func testAMiscountIsDetected() throws {
        try assert(scenario, fails: ["the library's counters agree with the records"]) { try $0.miscount() }
    }
}
