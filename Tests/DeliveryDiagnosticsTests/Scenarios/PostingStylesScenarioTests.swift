import XCTest

@testable import DeliveryDiagnostics

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

    func testTheDrawingIsOfTheRecords() throws {
        var records = try records(of: scenario)
        records.swapAt(
            try records.place { $0.stage == .post && $0.notification == "now" },
            try records.place(of: "performed: block"))
        let report = try XCTUnwrap(scenario.report(on: records))
        XCTAssertTrue(report.contains("\nnow                           o-----*\n"), report)
        XCTAssertTrue(report.contains("\nblock                       o---*\n"), report)
    }

    // Each expectation is broken once, to see that it can fail.

    func testANowThatIsPostedLaterIsSeen() throws {
        try assert(scenario, fails: ["now: posted before enqueue returned"]) { records in
            let place = try records.place { $0.stage == .post && $0.notification == "now" }
            records[place].sequence = records.count
        }
        try assert(scenario, fails: ["now: posted before enqueue returned"]) {
            $0[try $0.place(of: "enqueued: now 1, posted")].message = "enqueued: now 1, waiting"
        }
    }

    func testAnAsapThatIsPostedInTheCalloutOrInTheNextPassIsSeen() throws {
        for (message, numbers) in [("the callout ends", [-1]), ("performed: mailbox", [1, 2])] {
            try assert(scenario, fails: ["asap: as the callout's pass ended, before the next"]) {
                records in
                let end = records[try records.place(of: message)].sequence
                let posts = records.indices.filter { records[$0].stage == .post && records[$0].notification == "asap" }
                for (post, number) in zip(posts.reversed(), numbers.reversed()) {
                    records[post].sequence = end + number
                }
            }
        }
    }

    func testAnIdleOneThatIsPostedBeforeOtherWorkIsSeen() throws {
        for work in ["timer", "block", "mailbox", "main queue"] {
            var records = try records(of: scenario)
            records[try records.place(of: "performed: \(work)")].sequence = records.count
            XCTAssertTrue(
                failures(of: scenario, records).contains("whenIdle: the first after all that was ready"), work)
        }
        try assert(scenario, fails: ["whenIdle: the first after all that was ready"]) {
            $0[try $0.place(of: "performed: block")].message = "performed: nothing"
        }
    }

    func testASecondIdleOneThatDoesNotWaitIsSeen() throws {
        try assert(scenario, fails: ["whenIdle: the second after the work of the first"]) { records in
            let timer = try XCTUnwrap(records.lastIndex { $0.message == "performed: timer" })
            records[timer].sequence = records.count
        }
    }

    func testLastInFirstOutIsSeen() throws {
        for style in ["asap", "whenIdle"] {
            try assert(scenario, fails: ["first in, first out within a style"]) { records in
                let posts = records.filter { $0.stage == .post && $0.notification == style }.compactMap(\.post)
                for place in records.indices where records[place].stage != .enqueue {
                    if let which = posts.firstIndex(where: { $0 == records[place].post }) {
                        records[place].post = posts[1 - which]
                    }
                }
            }
        }
    }

    func testAHandlerOnAnotherThreadIsSeen() throws {
        try assert(scenario, fails: ["each handled once, on the main thread"]) {
            $0[try $0.placeOfDelivery()].thread = Self.anotherThread
        }
    }

    func testASecondFateIsSeen() throws {
        try assert(scenario, fails: ["each enqueued has one fate", "counted by the library as recorded"]) { records in
            var record = records[try records.place { $0.stage == .enqueue }]
            record.stage = .coalesce
            records.append(record)
        }
    }

    func testAMiscountIsSeen() throws {
        try assert(scenario, fails: ["counted by the library as recorded"]) { try $0.miscount() }
    }
}
