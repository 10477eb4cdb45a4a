import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// For each form of rules, a recording that satisfies it and one that breaks it.
final class RuleCheckTests: XCTestCase {
    /// The result and the findings of a rule, without the records of the evidence, which `RuleReportTests` has.
    private func text(
        _ rule: String, of recording: Recording, limits: DiagnosisLimits = DiagnosisLimits(),
        accepted: AcceptedFindings = AcceptedFindings()
    ) throws -> String {
        let rule = try RuleParser.rule(argument: rule, option: "--rule")
        let check = RuleCheck(
            [rule], RecordingIndex(recording), limits: limits, accepted: accepted, allowsIncomplete: true)
        return RuleReport(check).text().map(\.text).filter { !$0.hasPrefix("    run.jsonl:") }.joined(separator: "\n")
    }

    private func recording(_ script: String, ends: String = "end - !exit") -> Recording {
        RecordedStory("\(script); \(ends)").recording
    }

    /// Checks the rules of a report against a recording.
    private func check(_ script: String, ends: String = "end - !exit", line: UInt = #line, _ report: String) throws {
        let recording = recording(script, ends: ends)
        let rules = report.split(separator: "\n").filter { !$0.hasPrefix(" ") }.compactMap {
            $0.dropFirst(8).components(separatedBy: ": ").first
        }
        let texts = try rules.map { try text($0, of: recording) }
        XCTAssertEqual(texts.joined(separator: "\n"), report, line: line)
    }

    /// Two notifications are handled on worker.
    private let onWorker = "add o1 Saved; 1-2: give #* o1 Saved"

    // MARK: Threads and names

    func testHandlersOfANameRunOnAThreadOrNotThere() throws {
        try check(
            onWorker,
            """
            ok      Saved on thread worker: 2 handlers
            ok      Saved on thread 2: 2 handlers
            ok      Saved not on main: 2 handlers
            FAILED  Saved on main: 2 of 2 handlers ran on another thread
              observer 1 of Saved ran on worker 2 times
            FAILED  Saved on thread wrker: the recording does not have the thread wrker; did you mean worker?
              observer 1 of Saved ran on worker 2 times
            """)
        try check(
            "add o1 Saved; give #1 o1 Saved; give #2 o1 Saved >other",
            """
            FAILED  Saved not on thread worker: 1 of 2 handlers ran on thread worker
              observer 1 of Saved ran on worker once
            """)
        // Those of Foundation's center run on the thread that posts.
        for (thread, result) in [("main", "ok      "), ("worker", "FAILED  ")] {
            let recording = recording("add o1 ^; \(thread) fpost #1 o1")
            XCTAssertTrue(try text("Done on main", of: recording).hasPrefix(result + "Done on main: 1 "))
        }
    }

    func testANameOrAThreadThatTheRecordingDoesNotHaveFailsExceptInRulesThatBeginWithNoOrAtMost() throws {
        try check(
            "\(onWorker); add o9",
            """
            FAILED  Savd on main: the recording does not have the notification Savd; did you mean Saved?
            FAILED  Savd observed: the recording does not have the notification Savd; did you mean Saved?
            FAILED  Savd before Saved: the recording does not have the notification Savd; did you mean Saved?
            FAILED  Saved before Savd: the recording does not have the notification Savd; did you mean Saved?
            FAILED  Other not on main: the recording does not have the notification Other
            FAILED  Saved not on thread wrker: the recording does not have the thread wrker; did you mean worker?
            FAILED  Done before Saved on thread x: the recording does not have the thread x
            ok      at most 5 Savd per second: the recording does not have the notification Savd; did you mean Saved?
            ok      no handler on thread x longer than 5 ms: the recording does not have the thread x
            ok      no handler on main longer than 5 ms: 0 handlers
            FAILED  Done before Saved on main: no handler of Saved ran on main; it was posted 2 times
              observer 1 of Saved ran on worker 2 times
            """)
        try check(
            "add o1 Saved",
            """
            FAILED  Saved not on main: no handler of Saved ran; it was never posted
            FAILED  Saved observed: Saved was never posted
            FAILED  every post observed: nothing was posted
            ok      no post longer than 5 ms: 0 posts
            """)
        try check("", "ok      no observer left at exit: 0 observers\nok      no finding: no findings")
    }

    // MARK: Delays and orders

    func testEachHandlerBeginsWithinATimeAfterItsPostAndWhatWaitsAtTheEndIsTooLate() throws {
        try check(
            "\(onWorker); hand #3 o1 Saved; pass 60ms; worker handle #3 o1 Saved",
            """
            ok      Saved within 100 ms: 3 deliveries, the longest 62 ms
            FAILED  Saved within 50 ms: 1 of 3 deliveries took longer, up to 62 ms
              observer 1 of Saved received #3 62 ms after it was posted
            """)
        try check(
            "add o1 Saved; hand #1 o1 Saved",
            """
            FAILED  Saved within 10 s: 1 of 1 delivery took longer, up to 2 ms
              observer 1 of Saved had not received #1 when the recording ended, 2 ms after it was posted
            """)
    }

    func testAtMostSomeNotificationsOfANameWaitForEachObserver() throws {
        try check(
            "1-2: add o* Saved; 1-3: hand #* o1,2 Saved; 1-3: worker handle #* o1 Saved; hand #4 o1,2 Saved",
            """
            ok      Saved at most 4 waiting: at most 4 waiting
            FAILED  Saved at most 3 waiting: up to 4 waiting
              4 waited for observer 2 of Saved at the same time
            """)
    }

    func testHandlersOfANameComeAfterThoseOfAnotherOnEachThread() throws {
        try check(
            """
            add o1 Opened; add o2 Saved; 1-2: give #* o1 Opened; 3-4: give #* o2 Saved
            give #5 o2 Saved >other; give #6 o1 Opened >other; give #7 o2 Saved >main
            """,
            """
            ok      Opened before Saved on thread worker: 2 handlers of Saved
            ok      each Opened before Saved on thread worker: 2 handlers of Saved
            FAILED  Opened before Saved: 2 of 4 handlers of Saved ran before Opened
              other handled Saved once before its first Opened
              main handled Saved once and never Opened
            """)
        try check(
            "add o1 A; add o2 B; give #1 o1 A; give #2 o2 B; give #3 o2 B; give #4 o1 A",
            """
            ok      A before B: 2 handlers of B
            FAILED  each A before B: 1 of 2 handlers of B ran before its A
              worker handled B once before its own A
            """)
    }

    // MARK: Observers

    func testEachPostHasAnObserver() throws {
        try check(onWorker, "ok      Saved observed: 2 posts\nok      every post observed: 2 posts")
        try check(
            "1-2: post #* Saved @7 n0; add o1 Saved; give #3 o1 Saved; worker post #4 Other n0",
            """
            FAILED  Saved observed: 2 of 3 posts had no observer
              Saved was posted 2 times before it had an observer.
                remedy: Add the observer before you start the poster. Earlier posts are not kept: let the observer \
            query the current state once after it was added.
              Saved was posted by main 2 times without an observer
            FAILED  every post observed: 3 of 4 posts had no observer
              Saved was posted 2 times before it had an observer.
                remedy: Add the observer before you start the poster. Earlier posts are not kept: let the observer \
            query the current state once after it was added.
              Saved was posted by main 2 times without an observer
              Other was posted by worker once without an observer
            """)
        // A post that has not returned may have an observer.
        try check("add o1 ^queue=main; worker fbegin #1", "ok      every post observed: 1 post")
    }

    func testARetainedNotificationThatALaterObserverGetsIsObservedAndPostedOnce() throws {
        let later = [1, 2].map { observer in
            """
            pass 10s; add o\(observer) Saved >main; capture #\(observer + 2) Saved n1 ~2
            main handle #\(observer + 2) o\(observer) Saved
            """
        }
        try check(
            "post #1 Saved @7 n0; post #2 Saved @7 n0 +500ms; \(later.joined(separator: ";"))",
            """
            FAILED  at most 1 Saved per second: 2 posts, up to 2 in a second
              Saved was posted 2 times in 500 ms
            FAILED  Saved observed: 1 of 2 posts had no observer
              Saved was posted by main once without an observer
              Saved was posted once before it had an observer.
                remedy: Add the observer before you start the poster. Earlier posts are not kept: let the observer \
            query the current state once after it was added.
            """)
    }

    func testEverythingIsDeliveredOrDetectorsSayWhatIsNot() throws {
        try check(onWorker, "ok      Saved delivered: 2 delivered\nok      everything delivered: 2 delivered")
        try check(
            "\(onWorker); add o2 Other; post #3 Other n0; hand #4 o1 Saved; drop #4 o1 Saved n1 %dropNewest",
            """
            FAILED  Saved delivered: 2 delivered, 1 dropped
              The overflow policy (dropNewest(1)) of observer 1 of Saved dropped 1 of 3 notifications.
                remedy: If every notification matters, use a larger capacity or a faster handler, or post less.
            FAILED  Other delivered: none of 1 post had an observer
            """)
    }

    func testNoObserverIsLeftAtExit() throws {
        let (rule, removed) = ("no observer left at exit", "add o1 Saved; remove o1 n0")
        try check(removed, "ok      \(rule): 1 observer")
        try check(
            "\(removed); 2-3: add o* Saved @9; add o4 @9",
            """
            FAILED  \(rule): 3 of 4 observers were not removed
              observer 2 of Saved and 1 more that was added there were not removed
              observer 4 of Done was not removed
            """)
        let unknown = "it does not say which observers were left at exit"
        try check(removed, ends: "", "FAILED  \(rule): the recording is truncated: \(unknown)")
        try check("lost - n3", "FAILED  \(rule): the recording is truncated: \(unknown)")
        try check(removed, ends: "end - !stopped", "ok      \(rule): 1 observer when the recording was stopped")
        let killed = RecordedStory.endedWithoutNotice { $0.register(1) }
        XCTAssertEqual(
            try text(rule, of: killed), "FAILED  \(rule): the recording ended without notice: \(unknown)")
    }

    func testPostsAndObserversOfFoundationItselfNeedNoObserverAndNoRemoval() throws {
        for own in ["^own", "^"] {
            let recording = recording(
                "register o1 Own \(own); post #1 \(own); fend #1 n0; add o2 ^; fpost #2 o2; fremove o2")
            // The rule about a name is about its posts by anyone.
            for (rule, isHeld) in [
                ("every post observed", own == "^own"), ("Done observed", false),
                ("no observer left at exit", own == "^own"),
            ] { XCTAssertEqual(try text(rule, of: recording).hasPrefix("ok"), isHeld, rule) }
        }
    }

    // MARK: Times

    func testNoHandlerOnAThreadTakesLongerThanATime() throws {
        let calls = [1, 30, 20].enumerated().map { post, time in
            "worker hand #\(post) o1 Saved >main; main handle #\(post) o1 Saved \(time)ms"
        }
        try check(
            "add o1 Saved >main; \(calls.joined(separator: ";"))",
            """
            ok      no handler on main longer than 31 ms: 3 handlers, the longest 31 ms
            FAILED  no handler on main longer than 16 ms: 2 of 3 handlers took longer, up to 31 ms
              observer 1 of Saved took up to 31 ms on main, and was too long 2 times
            FAILED  no handler longer than 16 ms: 2 of 3 handlers took longer, up to 31 ms
              observer 1 of Saved took up to 31 ms on main, and was too long 2 times
            ok      no handler on thread worker longer than 16 ms: 0 handlers
            """)
        // A handler that has not returned lasts until its thread or the recording ends.
        for (end, words) in [("", "the recording"), ("worker threadEnd -", "its thread")] {
            try check(
                "append - #1 >worker; worker deliver - #1; pass 20ms; \(end)",
                """
                FAILED  no handler longer than 16 ms: 1 of 1 handler took longer, up to 21 ms
                  a performed block took 21 ms on worker and had not returned when \(words) ended
                """)
        }
    }

    func testHandlersWithoutARecordedTimeAreCountedAndDoNotHoldARuleByThemselves() throws {
        // The call of an async handler is recorded when it has returned.
        let async = "add o1 %poster; post #1 @7 n1; append #1 o1; worker deliver #1 o1; worker return #1 o1"
        let rule = "no handler longer than 16 ms"
        try check(async, "FAILED  \(rule): the recording does not have the time of any of 1 handler")
        try check(
            "\(async); add o2 >main; worker hand #2 o2 >main; main handle #2 o2 2ms",
            "ok      \(rule): 1 handler, the longest 3 ms; the times of 1 more are not recorded")
    }

    func testNoPostBlocksItsThreadForLongerThanATime() throws {
        // The handler of the posting thread runs inside the post; the one on worker does not.
        try check(
            """
            add o1 Saved %poster; add o2 Saved; post #1 Saved @7 n2; append #1 o2 Saved >worker
            main handle #1 o1 Saved 3ms; log - 'later'; worker handle #1 o2 Saved 50ms
            """,
            """
            ok      no post longer than 7 ms: 1 post, the longest 6 ms
            FAILED  no post longer than 5 ms: 1 of 1 post took longer, up to 6 ms
              a post of Saved blocked main for 6 ms
            """)
        // A post lasts for its wait for handlers, and as long as the posts in its handlers.
        try check(
            """
            add o1 Saved; wait - 'worker' @7; post #1 Saved @7 n1; append #1 o1 Saved >worker; pass 8ms
            worker deliver #1 o1 Saved; waitEnd -; post #2 @8 n1; deliver #2 o2; post #3 @9 n0; pass 4ms; return #2 o2
            """,
            """
            FAILED  no post longer than 5 ms: 2 of 3 posts took longer, up to 12 ms
              a post of Saved blocked main for 12 ms
              a post of Done blocked main for 7 ms
            """)
        // What waits in the mailbox of its own thread is handled after the post has returned.
        try check(
            "add o1 >main; hand #1 o1 >main; main handle #1 o1 50ms",
            "ok      no post longer than 5 ms: 1 post, the longest 1 ms")
    }

    func testAPostToFoundationsCenterLastsUntilItReturnsOrUntilTheEnd() throws {
        let begins = "add o1 ^queue=main; worker fbegin #1"
        for (rest, time) in [("main frun #1 o1 6ms; worker fend #1 n1; pass 50ms", "9 ms"), ("pass 50ms", "51 ms")] {
            let expected = "FAILED  no post longer than 8 ms: 1 of 1 post took longer, up to \(time)"
            XCTAssertTrue(
                try text("no post longer than 8 ms", of: recording("\(begins); \(rest)")).hasPrefix(expected))
        }
    }

    func testANameIsPostedAtMostSoManyTimesInAnySecond() throws {
        let posts = [0, 400, 400, 200, 200].enumerated().map { "post #\($0) Progress @7 n0 +\($1)ms" }
        try check(
            posts.joined(separator: ";"),
            """
            ok      at most 4 Progress per second: 5 posts, at most 4 in a second
            FAILED  at most 3 Progress per second: 5 posts, up to 4 in a second
              Progress was posted 4 times in 800 ms
            """)
    }

    // MARK: Findings

    func testFindingsOfAKindProblemsOrAnyFindingBreakARuleUnlessTheyAreAccepted() throws {
        let wrong = recording("add o1 Saved; hand #1 o1 Saved; other handle #1 o1 Saved 20ms")
        let finding = "problem: observer 1 of Saved should be handled on worker but was handled on other once."
        for (rule, count) in [
            ("no finding", "1 finding"), ("no problem", "1 problem"), ("no wrongThread", "1 finding"),
        ] {
            XCTAssertTrue(
                try text(rule, of: wrong).hasPrefix("FAILED  \(rule): \(count)\n  \(finding)\n    remedy: Only"))
        }
        XCTAssertEqual(try text("no flood", of: wrong), "ok      no flood: no findings")
        XCTAssertEqual(
            try text("no finding", of: wrong, accepted: AcceptedFindings(text: "wrongThread", source: "")),
            "ok      no finding: no findings, and 1 accepted")
        let late = recording("add o1 >main; worker hand #1 o1 >main; main handle #1 o1 20ms")
        XCTAssertEqual(try text("no problem", of: late), "ok      no problem: no problems")
        XCTAssertTrue(try text("no finding", of: late).hasPrefix("FAILED  no finding: 1 finding\n  note: observer 1"))
        XCTAssertEqual(
            try text("no finding", of: late, limits: DiagnosisLimits(mainBudget: .seconds(1))),
            "ok      no finding: no findings")
    }

    func testAnIncompleteRecordingIsAFailureUnlessThatIsAllowed() throws {
        try check(onWorker, ends: "", "ok      Saved on thread worker: 2 handlers")
        let check = RuleCheck([], RecordingIndex(recording(onWorker, ends: "")))
        XCTAssertEqual(
            RuleReport(check).text().map(\.text),
            ["FAILED  the recording is complete: there is no end record, so the last records may be missing"])
        XCTAssertTrue(RuleCheck([], RecordingIndex(recording(onWorker))).holds)
    }
}
