import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class AccountsTests: XCTestCase {
    private func audit(_ script: String, ends: String = "end - !exit") -> Evidence {
        Evidence(RecordedStory("\(script); \(ends)").recording)
    }

    /// For example `a post has two outcomes, once`.
    private func faults(_ script: String, ends: String = "end - !exit") -> [String] {
        audit(script, ends: ends).unaccounted.map {
            "\($0.problem.split(separator: ": ")[1].dropLast()), \($0.weight)"
        }.sorted()
    }

    func testEachOutcomeIsCountedForItsObserverAndName() {
        for (script, notifications) in [
            (
                """
                add o1; add o2; give #1 o1; hand #2 o1; coalesce #2 o1; hand #3 o1; drop #3 o1 %dropNewest
                hand #4 o1; cancel #4 o1; hand #5 o1; targetGone #5 o1; hand #6 o1,2; post #7 n1; skip #7 o2
                """,
                [
                    [
                        .matched: 6, .delivered: 1, .coalesced: 1, .dropped: 1, .cancelled: 1, .targetGone: 1,
                        .pending: 1,
                    ],
                    [.matched: 1, .pending: 1, .skipped: 1],
                ]
            ),
            // A delivery before the post returns needs no append.
            ("add o1 >main; post #1 n1; main handle #1 o1", [[.matched: 1, .delivered: 1]]),
            // A retained notification of a late observer is no other post.
            (
                """
                post #1 n0; 1-2: add o*; capture #2 n1 ~1; append #2 o1 >worker; capture #3 n1 ~1
                append #3 o2 >worker; worker handle #2 o1; worker coalesce #3 o2
                """, [[.matched: 1, .delivered: 1], [.matched: 1, .coalesced: 1]]
            ),
            // Posts from before the recording are counted separately.
            ("add o1; worker deliver o1; worker return o1", [[.earlier: 1]]),
            // What is handed to a thread that had ended is pending until its outcome is recorded.
            ("add o1; worker threadEnd -; hand #1 o1", [[.matched: 1, .pending: 1]]),
        ] as [(String, [Accounts.Counts])] {
            XCTAssertEqual(faults(script), [], script)
            XCTAssertEqual(audit(script).counts(.notifications), notifications, script)
        }
        let queues = audit("1-5: enqueue #*; post #1 n0; coalesce #2 ~1; dequeue #3; targetGone #4")
        XCTAssertEqual(
            queues.counts(.queues),
            [[.matched: 5, .delivered: 1, .coalesced: 1, .cancelled: 1, .targetGone: 1, .pending: 1]])
        let blocks = audit("append - #2 >worker; worker deliver - #2; worker return - #2; append - #3 >worker")
        XCTAssertEqual(blocks.counts(.blocks), [[.matched: 2, .delivered: 1, .pending: 1]])
        for (script, unobserved) in [
            ("3-4: post #* Gone n0; post #5 Other n0", [2, 1]), ("fbegin #1; fend #1", [1]),
            // A capture of a Foundation post is an observer of it.
            ("fbegin #1; capture #2 n1 ~1; append #2 o5 >worker; fend #1; worker handle #2 o5", []),
        ] { XCTAssertEqual(audit(script).counts(.unobserved).map { $0[.matched] }, unobserved, script) }
    }

    // MARK: Faults

    func testEachKindOfFaultUnlessMissingRecordsCouldExplainIt() {
        let late = "worker deliver #2 o1 >worker"
        let noOutcome = ["a post has no outcome, 1"]
        for (script, expected, isCertain) in [
            ("add o1; other register o2 >other; hand #1 o1; worker threadEnd -", noOutcome, false),
            // A later notification of the same thread was delivered, and did not overtake it.
            ("add o1; 1-2: hand #* o1; \(late); worker return #2 o1", noOutcome, false),
            ("add o1; hand #1 o1; other hand #2 o1; \(late); worker return #2 o1", [], false),
            ("add o1; 1-2: hand #* o1; \(late) %overtakes; worker return #2 o1", [], false),
            ("add o1; append #1 o1 >worker; worker handle #1 o1", ["a delivery has no post, 1"], false),
            (
                "1-2: add o*; post #1 n2; append #1 o1 >worker; log 'x'; worker handle #1 o1",
                ["a post has no record for an observer, 1"], false
            ),
            (
                "add o1; post #1 n0; append #1 o1 >worker; worker handle #1 o1",
                ["a post has records of more observers than it matched, 1"], true
            ), ("dequeue #1", ["a notification left a posting queue that it was not in, 1"], false),
            ("return #1 o1", ["a handler returned that was not called, 1"], false),
            (
                "add o1; 1-2: give #* o1 & cancel #* o1; enqueue #3; dequeue #3; coalesce #3",
                ["a notification left its posting queue twice, 1", "a post has two outcomes, 2"], true
            ), ("add o1; post #2 n1; skip #2 o1; cancel #2 o1", ["a post was skipped and has an outcome, 1"], true),
        ] as [(String, [String], Bool)] {
            XCTAssertEqual(faults(script), expected, script)
            for truncated in [faults(script, ends: ""), faults("\(script); lost - n3")] {
                XCTAssertEqual(truncated, isCertain ? expected : [], script)
            }
        }
    }

    func testAPostDuringWhichTheProgramEndsIsPendingAndAFinishedOneIsLost() {
        for reason in ["exit", "signal11"] {
            let inPost = """
                1-3: add o*; hand #1 o1; worker deliver #1 o1 >worker
                worker post #2 n2; worker deliver #2 o2 >worker
                """
            let ended = audit(inPost, ends: "end - !\(reason)")
            XCTAssertEqual(ended.unaccounted, [])
            XCTAssertEqual(ended.accounts(.notifications).reduce(0) { $0 + $1.counts[.pending] }, 1)
            XCTAssertEqual(faults("add o1; worker post #1 n1", ends: "end - !\(reason)"), [])
            let over = "\(inPost); worker return #2 o2; worker return #1 o1"
            XCTAssertEqual(faults(over, ends: "end - !\(reason)"), ["a post has no record for an observer, 1"])
        }
    }
}
