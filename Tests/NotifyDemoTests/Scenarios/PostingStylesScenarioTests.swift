import DeliveryRecording
import XCTest

@testable import Scenarios

final class PostingStylesScenarioTests: XCTestCase {
    private let drawing = """
        callout     [=====================]
        now                           o-*
        block                       o-------*
        asap              o-o-----------------*-*
        mailbox                   o-----------------*
        main queue              o-----------------*
        timer                 o-----------------------*   o-*
        whenIdle      o-o-------------------------------*-----*
        o is handed over, - waits, * happens, [==] lasts
        """

    func testTheDrawingIsAFunctionOfTheRecordsAndFitsATerminal() throws {
        let check = try ScenarioCheck(PostingStylesScenario())
        XCTAssertEqual(check.scenario.report(on: check.records), drawing)
        XCTAssertTrue(drawing.split(separator: "\n").allSatisfy { "# \($0)".count < 80 })
        var records = check.records
        records.swapAt(try records.index(.post, "now"), try records.index(of: "performed: block"))
        let report = try XCTUnwrap(check.scenario.report(on: records))
        XCTAssertTrue(report.contains("\nnow                           o-----*\n"), report)
        XCTAssertTrue(report.contains("\nblock                       o---*\n"), report)
    }

    func testEachExpectationCanFail() throws {
        let check = try ScenarioCheck(PostingStylesScenario())
        let now = "now: posted before enqueue returns"
        try check.fails(now) { $0[try $0.index(.post, "now")].sequence = $0.count }
        try check.fails(now) {
            $0[try $0.index(of: "enqueued: now 1, posted")].message = "enqueued: now 1, waiting"
        }
        // In the callout, and in the next pass.
        for (message, numbers) in [("the callout ends", [-1]), ("performed: main queue", [1, 2])] {
            try check.fails("asap: at the end of the callout's pass, before the next") { records in
                let end = records[try records.index(of: message)].sequence
                let posts = records.indices.filter { records[$0].stage == .post && records[$0].notification == "asap" }
                for (post, number) in zip(posts.reversed(), numbers.reversed()) {
                    records[post].sequence = end + number
                }
            }
        }
        let first = "whenIdle: the first after all ready work"
        for work in ["timer", "block", "mailbox", "main queue"] {
            var records = check.records
            records[try records.index(of: "performed: \(work)")].sequence = records.count
            XCTAssertTrue(check.failures(of: records).contains(first), work)
        }
        try check.fails(first) { $0[try $0.index(of: "performed: block")].message = "performed: nothing" }
        try check.fails("whenIdle: the second after the work of the first") {
            $0[try XCTUnwrap($0.lastIndex { $0.message == "performed: timer" })].sequence = $0.count
        }
        for style in ["asap", "whenIdle"] {
            try check.fails("first in, first out within each style") { records in
                let posts = records.filter { $0.stage == .post && $0.notification == style }.map(\.post)
                records.exchange(posts[0], posts[1]) { $0.stage != .enqueue }
            }
        }
        try check.fails("each handled once, on the main thread") {
            $0[try $0.indexOfDelivery()].thread = ScenarioCheck.anotherThread
        }
        try check.fails(
            "each enqueued notification has one outcome", "the library's counters agree with the records"
        ) { records in
            var record = records[try records.index(.enqueue)]
            record.stage = .coalesce
            records.append(record)
        }
        try check.failsIfMiscounted()
    }
}
