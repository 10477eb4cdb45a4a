import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// For each form of rules, a recording that satisfies it and one that breaks it.
final class RuleCheckTests: XCTestCase {
    private typealias Story = (inout RecordedStory) -> Void
    private let (main, worker, other) = (RecordedStory.main, RecordedStory.worker, RecordedStory.other)

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

    /// Checks the rules of a report against a recording.
    private func check(_ report: String, line: UInt = #line, _ happen: Story) throws {
        let recording = RecordedStory.complete(happen)
        let rules = report.split(separator: "\n").filter { !$0.hasPrefix(" ") }.compactMap {
            $0.dropFirst(8).components(separatedBy: ": ").first
        }
        let texts = try rules.map { try text($0, of: recording) }
        XCTAssertEqual(texts.joined(separator: "\n"), report, line: line)
    }

    /// Two notifications are handled on worker.
    private let onWorker: Story = { story in
        story.register(1, "Saved")
        story.deliver(1, to: [1], "Saved")
        story.deliver(2, to: [1], "Saved")
    }

    // MARK: Threads and names

    func testHandlersOfANameRunOnAThreadOrNotThere() throws {
        try check(
            """
            ok      Saved on thread worker: 2 handlers
            ok      Saved on thread 2: 2 handlers
            ok      Saved not on main: 2 handlers
            FAILED  Saved on main: 2 of 2 handlers ran on another thread
              observer 1 of Saved ran on worker 2 times
            FAILED  Saved on thread wrker: the recording does not have the thread wrker; did you mean worker?
              observer 1 of Saved ran on worker 2 times
            """, onWorker)
        try check(
            """
            FAILED  Saved not on thread worker: 1 of 2 handlers ran on thread worker
              observer 1 of Saved ran on worker once
            """
        ) { story in
            story.register(1, "Saved")
            story.deliver(1, to: [1], "Saved")
            story.deliver(2, to: [1], on: RecordedStory.other, "Saved")
        }
    }

    func testHandlersOfFoundationsCenterRunOnTheThreadThatPosts() throws {
        for (thread, result) in [(main, "ok      "), (worker, "FAILED  ")] {
            let recording = RecordedStory.complete { story in
                story.addFoundationObserver(1)
                story.postToFoundation(1, to: [1], from: thread)
            }
            XCTAssertTrue(try text("Done on main", of: recording).hasPrefix(result + "Done on main: 1 "))
        }
    }

    func testANameOrAThreadThatTheRecordingDoesNotHaveFailsExceptInRulesThatBeginWithNoOrAtMost() throws {
        let savd = "the recording does not have the notification Savd; did you mean Saved?"
        try check(
            """
            FAILED  Savd on main: \(savd)
            FAILED  Savd observed: \(savd)
            FAILED  Savd before Saved: \(savd)
            FAILED  Saved before Savd: \(savd)
            FAILED  Other not on main: the recording does not have the notification Other
            FAILED  Saved not on thread wrker: the recording does not have the thread wrker; did you mean worker?
            FAILED  Done before Saved on thread x: the recording does not have the thread x
            ok      at most 5 Savd per second: \(savd)
            ok      no handler on thread wrker longer than 5 ms: the recording does not have the thread wrker; did you mean worker?
            ok      no handler on main longer than 5 ms: 0 handlers
            FAILED  Done before Saved on main: no handler of Saved ran on main; it was posted 2 times
              #1 of Saved, posted by main at Demo/main.swift:1001 (line 2), had observers
                observer 1 of Saved: delivered on worker (line 4)
              #2 of Saved, posted by main at Demo/main.swift:1002 (line 6), had observers
                observer 1 of Saved: delivered on worker (line 8)
            """
        ) { story in
            onWorker(&story)
            story.register(9, "Done")
        }
        try check(
            """
            FAILED  Saved not on main: no handler of Saved ran; it was never posted
            FAILED  Saved observed: Saved was never posted
            FAILED  every post observed: nothing was posted
            ok      no post longer than 5 ms: 0 posts
            """
        ) { $0.register(1, "Saved") }
        try check(
            """
            ok      no observer left at exit: 0 observers
            ok      no finding: no findings
            """
        ) { _ in }
    }

    // MARK: Delays and orders

    func testEachHandlerBeginsWithinATimeAfterItsPostAndWhatWaitsAtTheEndIsTooLate() throws {
        try check(
            """
            ok      Saved within 100 ms: 3 deliveries, the longest 62 ms
            FAILED  Saved within 50 ms: 1 of 3 deliveries took longer, up to 62 ms
              observer 1 of Saved received #3 62 ms after it was posted
            """
        ) { story in
            onWorker(&story)
            story.hand(3, to: [1], "Saved")
            story.pass(.milliseconds(60))
            story.handle(3, by: 1)
        }
        try check(
            """
            FAILED  Saved within 10 s: 1 of 1 delivery took longer, up to 2 ms
              observer 1 of Saved had not received #1 when the recording ended, 2 ms after it was posted
            """
        ) { story in
            story.register(1, "Saved")
            story.hand(1, to: [1], "Saved")
        }
    }

    func testAtMostSomeNotificationsOfANameWaitForEachObserver() throws {
        try check(
            """
            ok      Saved at most 4 waiting: at most 4 waiting
            FAILED  Saved at most 3 waiting: up to 4 waiting
              4 waited for observer 2 of Saved at the same time
            """
        ) { story in
            for observer in 1...2 { story.register(observer, "Saved") }
            for post in 1...3 { story.hand(post, to: [1, 2], "Saved") }
            for post in 1...3 { story.handle(post, by: 1) }
            story.hand(4, to: [1, 2], "Saved")
        }
    }

    func testHandlersOfANameComeAfterThoseOfAnotherOnEachThread() throws {
        try check(
            """
            ok      Opened before Saved on thread worker: 2 handlers of Saved
            ok      each Opened before Saved on thread worker: 2 handlers of Saved
            FAILED  Opened before Saved: 2 of 4 handlers of Saved ran before Opened
              other handled Saved once before its first Opened
              main handled Saved once and never Opened
            """
        ) { story in
            story.register(1, "Opened")
            story.register(2, "Saved")
            for post in 1...2 { story.deliver(post, to: [1], "Opened") }
            for post in 3...4 { story.deliver(post, to: [2], "Saved") }
            story.deliver(5, to: [2], on: RecordedStory.other, "Saved")
            story.deliver(6, to: [1], on: RecordedStory.other, "Opened")
            story.deliver(7, to: [2], on: RecordedStory.main, "Saved")
        }
        try check(
            """
            ok      A before B: 2 handlers of B
            FAILED  each A before B: 1 of 2 handlers of B ran before its A
              worker handled B once before its own A
            """
        ) { story in
            for (observer, name) in ["A", "B"].enumerated() { story.register(observer + 1, name) }
            for (post, name) in ["A", "B", "B", "A"].enumerated() {
                story.deliver(post + 1, to: [name == "A" ? 1 : 2], name)
            }
        }
    }

    // MARK: Observers

    func testEachPostHasAnObserver() throws {
        try check(
            """
            ok      Saved observed: 2 posts
            ok      every post observed: 2 posts
            """, onWorker)
        try check(
            """
            FAILED  Saved observed: 2 of 3 posts had no observer
              Saved was posted by main 2 times without an observer
                observer 1 of Saved, observed at Demo/main.swift:1, was added later (line 3)
            FAILED  every post observed: 3 of 4 posts had no observer
              Saved was posted by main 2 times without an observer
                observer 1 of Saved, observed at Demo/main.swift:1, was added later (line 3)
              Other was posted by worker once without an observer
            """
        ) { story in
            for post in 1...2 { story.add(.post, "Saved", post: post, at: 7, count: 0) }
            story.register(1, "Saved")
            story.deliver(3, to: [1], "Saved")
            story.add(.post, on: RecordedStory.worker, "Other", post: 4, count: 0)
        }
        // A post that has not returned may have an observer.
        try check(
            """
            ok      every post observed: 1 post
            """
        ) { story in
            story.addFoundationObserver(1, queue: "main")
            story.beginFoundationPost(1, from: RecordedStory.worker)
        }
    }

    func testARetainedNotificationThatALaterObserverGetsIsObservedAndPostedOnce() throws {
        try check(
            """
            FAILED  at most 1 Saved per second: 2 posts, up to 2 in a second
              Saved was posted 2 times in 500 ms
            FAILED  Saved observed: 1 of 2 posts had no observer
              Saved was posted by main once without an observer
                observer 1 of Saved, observed at Demo/main.swift:1, was added later (line 3)
                observer 2 of Saved, observed at Demo/main.swift:2, was added later (line 7)
            """
        ) { story in
            story.add(.post, "Saved", post: 1, at: 7, count: 0)
            story.add(.post, "Saved", post: 2, at: 7, count: 0, after: .milliseconds(500))
            for observer in 1...2 {
                story.pass(.seconds(10))
                story.register(observer, "Saved", on: RecordedStory.main)
                story.add(.capture, "Saved", post: 2 + observer, count: 1, relatedPost: 2)
                story.handle(2 + observer, by: observer, on: RecordedStory.main, "Saved")
            }
        }
    }

    func testNoObserverIsLeftAtExit() throws {
        let rule = "no observer left at exit"
        let removed: Story = { story in
            story.register(1, "Saved")
            story.add(.remove, "Saved", observer: 1, count: 0)
        }
        try check("ok      \(rule): 1 observer", removed)
        try check(
            """
            FAILED  \(rule): 3 of 4 observers were not removed
              observer 2 of Saved and 1 more that was added there were not removed
              observer 4 of Done was not removed
            """
        ) { story in
            removed(&story)
            for observer in 2...3 { story.add(.register, "Saved", observer: observer, at: 9) }
            story.add(.register, observer: 4, at: 9)
        }
        for (recording, how) in [
            (RecordedStory.truncated(removed), "is truncated"),
            (RecordedStory.endedWithoutNotice(removed), "ended without notice"),
            (RecordedStory.complete { $0.add(.lost, nil, count: 3) }, "is truncated"),
        ] {
            XCTAssertEqual(
                try text(rule, of: recording),
                "FAILED  \(rule): the recording \(how): it does not say which observers were left at exit")
        }
        var stopped = RecordedStory()
        removed(&stopped)
        stopped.end(.stopped)
        XCTAssertEqual(
            try text(rule, of: stopped.recording), "ok      \(rule): 1 observer when the recording was stopped")
    }

    func testPostsAndObserversOfFoundationItselfNeedNoObserverAndNoRemoval() throws {
        for isCalledByFoundation in [true, false] {
            let foundation = DeliveryRecord.FoundationDetails(isCalledByFoundation: isCalledByFoundation)
            let recording = RecordedStory.complete { story in
                story.add(.register, "Own", observer: 1, foundation: foundation)
                story.add(.post, post: 1, foundation: foundation)
                story.endFoundationPost(1, count: 0)
                story.addFoundationObserver(2)
                story.postToFoundation(2, to: [2])
                story.removeFoundationObserver(2)
            }
            // The rule about a name is about its posts by anyone.
            for (rule, isHeld) in [
                ("every post observed", isCalledByFoundation), ("Done observed", false),
                ("no observer left at exit", isCalledByFoundation),
            ] { XCTAssertEqual(try text(rule, of: recording).hasPrefix("ok"), isHeld, rule) }
        }
    }

    // MARK: Times

    func testNoHandlerOnAThreadTakesLongerThanATime() throws {
        try check(
            """
            ok      no handler on main longer than 31 ms: 3 handlers, the longest 31 ms
            FAILED  no handler on main longer than 16 ms: 2 of 3 handlers took longer, up to 31 ms
              observer 1 of Saved took up to 31 ms on main, and was too long 2 times
            FAILED  no handler longer than 16 ms: 2 of 3 handlers took longer, up to 31 ms
              observer 1 of Saved took up to 31 ms on main, and was too long 2 times
            ok      no handler on thread worker longer than 16 ms: 0 handlers
            """
        ) { story in
            story.register(1, "Saved", on: RecordedStory.main)
            for (post, time) in zip(1..., [1, 30, 20]) {
                story.hand(post, to: [1], on: RecordedStory.main, from: RecordedStory.worker, "Saved")
                story.handle(post, by: 1, on: RecordedStory.main, "Saved", for: .milliseconds(time))
            }
        }
    }

    func testAHandlerThatHasNotReturnedLastsUntilItsThreadOrTheRecordingEnds() throws {
        for end in ["the recording", "its thread"] {
            try check(
                """
                FAILED  no handler longer than 16 ms: 1 of 1 handler took longer, up to 21 ms
                  a performed block took 21 ms on worker and had not returned when \(end) ended
                """
            ) { story in
                story.add(.append, nil, post: 1, target: RecordedStory.worker)
                story.add(.deliver, on: RecordedStory.worker, nil, post: 1)
                story.pass(.milliseconds(20))
                if end == "its thread" { story.add(.threadEnd, on: RecordedStory.worker, nil) }
            }
        }
    }

    func testHandlersWithoutARecordedTimeAreCountedAndDoNotHoldARuleByThemselves() throws {
        // The call of an async handler is recorded when it has returned.
        let async: Story = { story in
            story.register(1, "Saved", on: nil)
            story.add(.post, "Saved", post: 1, at: 7, count: 1)
            story.add(.append, "Saved", post: 1, observer: 1)
            story.add(.deliver, on: RecordedStory.worker, "Saved", post: 1, observer: 1)
            story.add(.return, on: RecordedStory.worker, "Saved", post: 1, observer: 1)
        }
        let rule = "no handler longer than 16 ms"
        try check("FAILED  \(rule): the recording does not have the time of any of 1 handler", async)
        try check("ok      \(rule): 1 handler, the longest 3 ms; the times of 1 more are not recorded") { story in
            async(&story)
            story.register(2, "Done", on: RecordedStory.main)
            story.hand(2, to: [2], on: RecordedStory.main, from: RecordedStory.worker)
            story.handle(2, by: 2, on: RecordedStory.main, for: .milliseconds(2))
        }
    }

    func testNoPostBlocksItsThreadForLongerThanATime() throws {
        // The handler of the posting thread runs inside the post; the one on worker does not.
        try check(
            """
            ok      no post longer than 7 ms: 1 post, the longest 6 ms
            FAILED  no post longer than 5 ms: 1 of 1 post took longer, up to 6 ms
              a post of Saved blocked main for 6 ms
            """
        ) { story in
            story.register(1, "Saved", on: nil)
            story.register(2, "Saved")
            story.add(.post, "Saved", post: 1, at: 7, count: 2)
            story.add(.append, "Saved", post: 1, observer: 2, target: RecordedStory.worker)
            story.handle(1, by: 1, on: RecordedStory.main, "Saved", for: .milliseconds(3))
            story.add(.log, nil, message: "later")
            story.handle(1, by: 2, "Saved", for: .milliseconds(50))
        }
    }

    func testAPostLastsForItsWaitForHandlersOrForRoomAndAsLongAsThePostsInItsHandlers() throws {
        try check(
            """
            FAILED  no post longer than 5 ms: 3 of 3 posts took longer, up to 12 ms
              a post of Saved blocked main for 12 ms
              a post of Done blocked main for up to 9 ms, and was too long 2 times
            """
        ) { story in
            story.register(1, "Saved")
            story.add(.wait, nil, message: "worker", at: 7)
            story.add(.post, "Saved", post: 1, at: 7, count: 1)
            story.add(.append, "Saved", post: 1, observer: 1, target: RecordedStory.worker)
            story.pass(.milliseconds(8))
            story.add(.deliver, on: RecordedStory.worker, "Saved", post: 1, observer: 1)
            story.add(.waitEnd, nil)
            story.add(.post, post: 2, at: 8, count: 1)
            story.add(.deliver, post: 2, observer: 2)
            story.add(.post, post: 3, at: 8, count: 1)
            story.add(.wait, nil, message: "room", at: 8)
            story.pass(.milliseconds(4))
            story.add(.waitEnd, nil)
            story.add(.return, post: 2, observer: 2)
        }
    }

    func testAPostThatOnlyWaitsForItsOwnThreadDoesNotBlockIt() throws {
        // The notification waits in the thread's mailbox, and is handled after the post has returned.
        try check(
            """
            ok      no post longer than 5 ms: 1 post, the longest 1 ms
            """
        ) { story in
            story.register(1, on: RecordedStory.main)
            story.hand(1, to: [1], on: RecordedStory.main)
            story.handle(1, by: 1, on: RecordedStory.main, for: .milliseconds(50))
        }
    }

    func testAPostToFoundationsCenterLastsUntilItReturnsOrUntilTheEnd() throws {
        for (isReturned, time) in [(true, "9 ms"), (false, "51 ms")] {
            let recording = RecordedStory.complete { story in
                story.addFoundationObserver(1, queue: "main")
                story.beginFoundationPost(1, from: RecordedStory.worker)
                if isReturned {
                    story.runFoundationHandler(1, by: 1, on: RecordedStory.main, for: .milliseconds(6))
                    story.endFoundationPost(1, count: 1, from: RecordedStory.worker)
                }
                story.pass(.milliseconds(50))
            }
            let expected = "FAILED  no post longer than 8 ms: 1 of 1 post took longer, up to \(time)"
            XCTAssertTrue(try text("no post longer than 8 ms", of: recording).hasPrefix(expected))
        }
    }

    func testANameIsPostedAtMostSoManyTimesInAnySecond() throws {
        // Posts at 0, 0.4, 0.8, 1.0 and 1.2 s.
        try check(
            """
            ok      at most 4 Progress per second: 5 posts, at most 4 in a second
            FAILED  at most 3 Progress per second: 5 posts, up to 4 in a second
              Progress was posted 4 times in 800 ms
            """
        ) { story in
            for (post, time) in zip(1..., [0, 400, 400, 200, 200]) {
                story.add(.post, "Progress", post: post, at: 7, count: 0, after: .milliseconds(time))
            }
        }
    }

    // MARK: Findings

    func testFindingsOfAKindProblemsOrAnyFindingBreakARuleUnlessTheyAreAccepted() throws {
        let wrong = RecordedStory.complete { story in
            story.register(1, "Saved")
            story.hand(1, to: [1], "Saved")
            story.handle(1, by: 1, on: RecordedStory.other, "Saved", for: .milliseconds(20))
        }
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
        let late = RecordedStory.complete { story in
            story.register(1, on: RecordedStory.main)
            story.hand(1, to: [1], on: RecordedStory.main, from: RecordedStory.worker)
            story.handle(1, by: 1, on: RecordedStory.main, for: .milliseconds(20))
        }
        XCTAssertEqual(try text("no problem", of: late), "ok      no problem: no problems")
        XCTAssertTrue(try text("no finding", of: late).hasPrefix("FAILED  no finding: 1 finding\n  note: observer 1"))
        XCTAssertEqual(
            try text("no finding", of: late, limits: DiagnosisLimits(mainBudget: .seconds(1))),
            "ok      no finding: no findings")
    }

    func testAnIncompleteRecordingIsAFailureUnlessThatIsAllowed() throws {
        let truncated = RecordedStory.truncated(onWorker)
        XCTAssertEqual(try text("Saved on thread worker", of: truncated), "ok      Saved on thread worker: 2 handlers")
        let check = RuleCheck([], RecordingIndex(truncated))
        XCTAssertEqual(
            RuleReport(check).text().map(\.text),
            ["FAILED  the recording is complete: there is no end record, so the last records may be missing"])
        XCTAssertTrue(RuleCheck([], RecordingIndex(RecordedStory.complete(onWorker))).holds)
    }
}
