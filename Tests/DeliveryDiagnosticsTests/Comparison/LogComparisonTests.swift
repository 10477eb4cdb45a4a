import DeliveryRecording
import RecordingTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class LogComparisonTests: XCTestCase {
    private func compare(
        _ first: String, _ second: String, isExact: Bool = false
    ) throws -> RunComparison.Outcome {
        var options = RunComparison.Options()
        (options.isExact, options.maximumDifferences) = (isExact, 1)
        let logs = try [("A", first), ("B", second)].map { try TextLog(name: $0, text: $1) }
        return RunComparison(.log(logs[0]), .log(logs[1]), options: options).outcome
    }

    private func difference(_ first: String, _ second: String, isExact: Bool = false) throws -> RunDifference? {
        guard case .different(let differences) = try compare(first, second, isExact: isExact) else { return nil }
        return differences[0]
    }

    /// The numbers of lines and threads if the logs are the same.
    private func same(_ first: String, _ second: String, isExact: Bool = false) throws -> [Int]? {
        guard case .same(let lines, let threads, _) = try compare(first, second, isExact: isExact) else { return nil }
        return [lines, threads]
    }

    /// Makes a log from lines of the form "process:thread message".
    private func log(_ lines: String...) -> String {
        lines.map { "2026-11-20 22:05:12.856 p[" + $0.replacing(" ", with: "] ", maxReplacements: 1) + "\n" }.joined()
    }

    func testEachDocumentsLogEqualsItselfAndDiffersFromTheOthersAlsoInTheOrderOfLines() throws {
        for one in ReferenceLog.allCases {
            for other in ReferenceLog.allCases {
                let exact = try difference(one.text, other.text, isExact: true)
                XCTAssertEqual(try difference(one.text, other.text)?.first.line, exact?.first.line)
                for isExact in [false, true] {
                    let counts = try same(one.text, other.text, isExact: isExact)
                    XCTAssertEqual(counts, (one == other ? [3, one == .listing2 ? 1 : 2] : nil))
                }
            }
        }
    }

    func testTimesProcessNamesAndIdsThreadIdsAndThreadNumbersMayDiffer() throws {
        let renamed = """
            2026-11-20 01:02:03.004 other name[7:7] current thread = {number = 1, name = main}
            2026-11-20 01:02:03.004567+0100 other name[7:1f] current thread = <NSThread: 0x600>{number = 9, name = (null)}
            2026-11-20 01:02:03 other name[7:1f] test notification

            """
        // The numbers are kernel ids, and that of the main thread is the process id.
        let gnustep = """
            2026-11-20 01:02:03.004 test[7304:7304] current thread = <NSThread: 0x55>{name = (null), num = 7304}
            2026-11-20 01:02:03.004 test[7304:7305] current thread = <NSThread: 0x66>{name = (null), num = 7305}
            2026-11-20 01:02:03.004 test[7304:7305] test notification

            """
        for log in [renamed, gnustep] {
            for isExact in [false, true] {
                XCTAssertEqual(try same(ReferenceLog.listing1.text, log, isExact: isExact), [3, 2])
            }
        }
        // Threads that are only mentioned are not counted.
        for (one, other) in [
            ("4:4 {name = (null), num = 4}", "9:9 {number = 1, name = (null)}"),
            ("4:4 {name = w, num = 5}", "9:9 {name = w, num = 8}"),
            ("4:4 {number = 2, name = a{b}", "9:9 {number = 5, name = a{b}"),
            ("1:5 {name = w, num = 5}", "1:6 {name = w, num = 6}"),
        ] {
            XCTAssertEqual(try same(log(one), log(other)), [1, 1], "\(one)")
        }
    }

    func testThreadsMayInterleaveInAnyWayIfEachKeepsItsOrder() throws {
        let one = log("1:1 begin", "1:2 a", "1:2 b", "1:1 end")
        let other = log("9:8 a", "9:9 begin", "9:9 end", "9:8 b")
        XCTAssertEqual(try same(one, other), [4, 2])
        XCTAssertEqual(try difference(one, other, isExact: true)?.reason, .message)
        let swapped = try XCTUnwrap(try difference(one, log("9:8 b", "9:9 begin", "9:9 end", "9:8 a")))
        XCTAssertEqual(swapped.reason, .message)
        XCTAssertEqual([swapped.first.line, swapped.second.line], [2, 1])
    }

    func testADifferenceHasItsReasonItsLinesAndASentence() throws {
        typealias Case = ([String], [String], RunDifference.Reason, [Int?], String)
        let cases: [Case] = [
            (["1:1 a"], ["1:1 b"], .message, [1, 1], "The messages differ."),
            (["1:1 a {number = 1, name = main}"], ["1:1 a"], .message, [1, 1], "The messages differ."),
            (
                ["1:1 {number = 1, name = main}"], ["1:1 {number = 1, name = w}"], .mention, [1, 1],
                "The messages mention"
            ),
            (["1:1 {number = 1, name = w}"], ["1:1 {number = 2, name = w}"], .mention, [1, 1], "The messages mention"),
            (["1:5 {name = w, num = 5}"], ["1:5 {name = w, num = 6}"], .mention, [1, 1], "The messages mention"),
            (["1:1 a", "1:1 b"], ["1:1 a"], .onlyInFirst, [2, nil], "One run continues"),
            (["1:1 a"], ["1:1 a", "1:1 b"], .onlyInSecond, [nil, 2], "One run continues"),
            (
                ["1:1 a", "1:1 b", "1:2 c"], ["1:1 a", "1:2 c"], .thread, [2, 2],
                "In A the line is written by the thread of line 1, in B by a thread not seen before."
            ),
            (
                ["1:1 a", "1:1 b", "1:2 c"], ["1:2 c", "1:1 a"], .threadEnds, [2, 1],
                "No further thread of B writes this line."
            ),
        ]
        for (first, second, reason, lines, sentence) in cases {
            let (one, other) = (first.map { log($0) }.joined(), second.map { log($0) }.joined())
            let difference = try XCTUnwrap(try difference(one, other), "\(first)")
            XCTAssertEqual(difference.reason, reason, "\(first), \(second)")
            XCTAssertEqual([difference.first.line, difference.second.line], lines, "\(first), \(second)")
            XCTAssertTrue(difference.explanation.joined().hasPrefix(sentence), "\(first), \(second): \(difference)")
        }
        // In the order of the files, whichever log has more threads.
        for (first, second, reason, sentence) in [
            (log("1:1 a", "1:2 b"), log("1:1 a", "1:1 b"), RunDifference.Reason.thread, "by a thread not seen before"),
            (log("1:1 a", "1:1 b"), log("1:1 a", "1:2 b"), .thread, "In A the line is written by the thread of line 1"),
            (
                "# one\n# two\n" + log("1:1 a", "1:2 b", "1:1 c"), log("1:1 a", "1:2 b", "1:2 c"), .thread,
                "In A the line is written by the thread of line 3, in B by the thread of line 2."
            ),
            (
                log("1:1 a", "2:1 b"), log("1:1 a", "1:1 b"), .thread,
                "by a process not seen before, in B by the thread of line 1."
            ),
        ] {
            let difference = try XCTUnwrap(try difference(first, second, isExact: true))
            XCTAssertEqual(difference.reason, reason)
            XCTAssertTrue(difference.explanation.joined().contains(sentence), "\(difference)")
        }
    }

    func testAReportShowsTheLineNumbersBothLinesAndTheReason() throws {
        for isExact in [true, false] {
            let outcome = try compare(ReferenceLog.listing2.text, ReferenceLog.listing1.text, isExact: isExact)
            XCTAssertEqual(
                ComparisonReport(outcome, isLog: true).description,
                """
                the runs differ
                  A:2  2016-02-13 23:38:31.663 test[1474:92483] current thread = {number = 1, name = main}
                  B:2  2016-02-13 22:05:12.857 test[865:45174] current thread = {number = 2, name = (null)}
                In A the line is written by the thread of line 1, in B by a thread not seen before.
                """)
        }
        let complete = log("1:1 first", "1:1 second")
        let within = try XCTUnwrap(try difference(complete, String(complete.dropLast(3))))
        XCTAssertTrue(within.description.hasSuffix("B ends within this line, without a newline: it may be truncated."))
        XCTAssertEqual(try difference(complete, log("1:1 first"))?.description.contains("B    (no counterpart)"), true)
        // Long lines are shown around their difference.
        let start = String(repeating: "x", count: 5000)
        let long = try XCTUnwrap(try difference(log("1:1 \(start)a"), log("1:1 \(start)b"))).description
        XCTAssertTrue(long.contains("xxxa\n") && long.contains("xxxb\n") && long.count < 700)
    }

    func testTheLinesThatContinueAMessageAreComparedUnlessTheyAreToBeSkipped() throws {
        let one = log("1:1 {") + "    a = 1;\n}\n" + log("1:1 end")
        XCTAssertEqual(try same(one, one), [2, 1])
        XCTAssertEqual(try difference(one, one.replacing("a = 1", with: "a = 2"))?.reason, .message)
        let combined = "starting\n" + one + "warning: no\n"
        XCTAssertEqual(try difference(one, combined)?.reason, .message)
        var options = RunComparison.Options()
        options.skipsOtherLines = true
        for (first, second, skipped) in [(one, combined, [0, 2]), (combined, one, [2, 0])] {
            let logs = try [first, second].map { try TextLog(name: "log", text: $0) }
            let comparison = RunComparison(.log(logs[0]), .log(logs[1]), options: options)
            XCTAssertEqual(comparison.skippedLines, skipped)
            guard case .same(2, 1, _) = comparison.outcome else {
                XCTFail("\(comparison.outcome)")
                return
            }
        }
    }

    func testARecordingIsComparedWithALogByItsMessages() throws {
        var script = RecordedStory()
        let worker = RecordedStory.thread(4, "worker")
        script.add(.log, message: "current thread = {number = 1, name = main}")
        script.add(.append, nil, post: 1, target: worker)
        script.add(.log, on: worker, message: "current thread = {number = 4, name = (null)}")
        script.add(.log, on: worker, message: "test notification")
        script.end()
        let recording = ComparisonInput.recording(script.recording("run"))
        for (reference, isSame) in [(ReferenceLog.listing1, true), (.listing2, false), (.listing4, false)] {
            let log = ComparisonInput.log(try TextLog(reference))
            for isExact in [false, true] {
                for (one, other) in [(log, recording), (recording, log)] {
                    var options = RunComparison.Options()
                    options.isExact = isExact
                    let outcome = RunComparison(one, other, options: options).outcome
                    guard case .same(let records, _, _) = outcome else {
                        XCTAssertFalse(isSame)
                        continue
                    }
                    XCTAssertTrue(isSame)
                    XCTAssertEqual(records, 3)
                }
            }
        }
    }
}
