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
        let check = RuleCheck([rule], RecordingIndex(recording), limits: limits, accepted: accepted)
        // Before it, the report says what the recording lacks.
        let lines = RuleReport(check).text().map(\.text).drop { !$0.dropFirst(8).hasPrefix("\(rule):") }
        return lines.filter { !$0.hasPrefix("    run.jsonl:") }.joined(separator: "\n")
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
            """)
        try check(
            "add o1 Saved; give #1 o1 Saved; give #2 o1 Saved >other",
            """
            FAILED  Saved not on thread worker: 1 of 2 handlers ran on that thread
              observer 1 of Saved ran on worker once
            """)
        // Those of Foundation's center run on the thread that posts.
        for (thread, result) in [("main", "ok      "), ("worker", "FAILED  ")] {
            let recording = recording("add o1 ^; \(thread) fpost #1 o1")
            XCTAssertTrue(try text("Done on main", of: recording).hasPrefix(result + "Done on main: 1 "))
        }
    }

    func testANameOrAThreadThatTheRecordingDoesNotHaveFailsExceptInRulesThatBeginWithNo() throws {
        try check(
            "\(onWorker); add o9",
            """
            FAILED  Savd on main: the recording does not have the notification Savd; did you mean Saved?
            FAILED  Saved before Savd: the recording does not have the notification Savd; did you mean Saved?
            FAILED  Other not on main: the recording does not have the notification Other
            FAILED  Saved on thread wrker: the recording does not have the thread wrker; did you mean worker?
            FAILED  Done before Saved on thread x: the recording does not have the thread x
            ok      no handler on thread x longer than 5 ms: the recording does not have the thread x
            ok      no handler on main longer than 5 ms: 0 handlers
            FAILED  Done before Saved on main: no handler of Saved ran there; it was posted 2 times
              observer 1 of Saved ran on worker 2 times
            """)
        try check(
            "add o1 Saved",
            """
            FAILED  Saved not on main: no handler of Saved ran; it was never posted
            FAILED  Saved observed: Saved was never posted
            FAILED  every post observed: nothing was posted
            FAILED  everything delivered: nothing was posted
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
            FAILED  each A before B: 1 of 2 handlers of B ran before A
              worker handled B once before its own A
            """)
    }

    // MARK: Observers and deliveries

    func testEachPostHasAnObserver() throws {
        try check(onWorker, "ok      Saved observed: 2 posts\nok      every post observed: 2 posts")
        try check(
            "1-2: post #* Saved @7 n0; add o1 Saved; give #3 o1 Saved; worker post #4 Other n0",
            """
            FAILED  Saved observed: 2 of 3 posts had no observer
              Saved was posted by main 2 times without an observer
            FAILED  every post observed: 3 of 4 posts had no observer
              Saved was posted by main 2 times without an observer
              Other was posted by worker once without an observer
            """)
        // A post that has not returned may have an observer.
        try check("add o1 ^queue=main; worker fbegin #1", "ok      every post observed: 1 post")
        // A retained notification that a later observer gets is observed.
        try check(
            """
            post #1 Saved @7 n0; post #2 Saved @7 n0 +500ms; pass 10s; add o1 Saved >main; capture #3 Saved n1 ~2
            main handle #3 o1 Saved
            """,
            """
            FAILED  Saved observed: 1 of 2 posts had no observer
              Saved was posted by main once without an observer
            """)
    }

    func testEverythingIsDelivered() throws {
        try check(onWorker, "ok      Saved delivered: 2 delivered\nok      everything delivered: 2 delivered")
        try check(
            """
            \(onWorker); add o2 Other; post #3 Other n0; hand #4 o1 Saved; drop #4 o1 Saved n1 %dropNewest
            enqueue #5 Idle $whenIdle
            """,
            """
            FAILED  Saved delivered: 2 delivered, 1 dropped
              observer 1 of Saved: 1 dropped
            FAILED  Other delivered: no handler was due for 1 post
            FAILED  Idle delivered: 1 pending
              a posting queue of Idle: 1 pending
            """)
    }

    func testNoObserverIsLeftAtExit() throws {
        let (rule, removed) = ("no observer left at exit", "add o1 Saved; remove o1 n0")
        try check(removed, "ok      \(rule): 1 observer")
        try check(
            "\(removed); 2-3: add o* Saved @9; add o4 @9",
            """
            FAILED  \(rule): 3 of 4 observers were not removed
              observer 2 of Saved was not removed, and 1 more that were added there
              observer 4 of Done was not removed
            """)
        let unknown = "a process was killed or the recording is truncated, so the observers at exit are unknown"
        try check(removed, ends: "", "FAILED  \(rule): \(unknown)")
        let killed = RecordedStory.endedWithoutNotice { $0.register(1) }
        XCTAssertEqual(try text(rule, of: killed), "FAILED  \(rule): \(unknown)")
    }

    func testPostsAndObserversOfFoundationItselfNeedNoObserverAndNoRemoval() throws {
        for own in ["^own", "^"] {
            let recording = recording(
                "post #9 n1; register o1 Own \(own); post #1 \(own); fend #1 n0; add o2 ^; fpost #2 o2; fremove o2")
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
              observer 1 of Saved took 31 ms on main; 2 were too long
            ok      no handler on thread worker longer than 16 ms: 0 handlers
            """)
        // A handler that has not returned lasts until its thread or the recording ends.
        for end in ["", "worker threadEnd -"] {
            try check(
                "append - #1 >worker; worker deliver - #1; pass 20ms; \(end)",
                """
                FAILED  no handler longer than 16 ms: 1 of 1 handler took longer, up to 21 ms
                  a performed block took 21 ms on worker and did not return
                """)
        }
        // The call of an async handler is recorded when it has returned.
        try check(
            """
            add o1 %poster; post #1 @7 n1; append #1 o1; worker deliver #1 o1; worker return #1 o1
            add o2 >main; worker hand #2 o2 >main; main handle #2 o2 2ms
            """,
            "ok      no handler longer than 16 ms: 1 handler, the longest 3 ms")
    }

    // MARK: Findings

    func testFindingsOfAKindProblemsOrAnyFindingBreakARuleUnlessTheyAreAccepted() throws {
        let wrong = recording("add o1 Saved; hand #1 o1 Saved; other handle #1 o1 Saved 20ms")
        for rule in ["no finding: 1 finding", "no problem: 1 problem", "no wrongThread: 1 finding"] {
            let text = try text(rule.components(separatedBy: ":")[0], of: wrong)
            XCTAssertTrue(text.hasPrefix("FAILED  \(rule)\n  problem: observer 1 of Saved should be handled"), text)
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
