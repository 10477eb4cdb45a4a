import DeliveryRecording
import XCTest

@testable import DeliveryDiagnostics

/// For each rule, a recording that satisfies it and one that breaks it.
final class RuleCheckTests: XCTestCase {
    private func text(
        _ rules: String..., of recording: Recording, limits: DiagnosisLimits = DiagnosisLimits(),
        accepted: AcceptedFindings = AcceptedFindings()
    ) throws -> String {
        let rules = try rules.map { try RuleParser.rule(argument: $0, option: "--rule") }
        let check = RuleCheck(
            rules, RecordingIndex(recording), limits: limits, accepted: accepted, allowsIncomplete: true)
        // The records of the evidence are shown in `RuleReportTests`.
        return RuleReport(check).text().map(\.text).filter { !$0.hasPrefix("    run.jsonl:") }.joined(separator: "\n")
    }

    private func assert(
        _ rule: String, _ expected: String, line: UInt = #line, truncated: Bool = false,
        _ happen: (inout RecordedStory) -> Void
    ) throws {
        let recording = truncated ? RecordedStory.truncated(happen) : RecordedStory.complete(happen)
        XCTAssertEqual(try text(rule, of: recording), expected, line: line)
    }

    /// Two notifications are handled on worker.
    private let onWorker: (inout RecordedStory) -> Void = { story in
        story.register(1, "Saved")
        story.deliver(1, to: [1], "Saved")
        story.deliver(2, to: [1], "Saved")
    }

    // MARK: On a thread

    func testHandlersOfANameRunOnMainOrOnAThread() throws {
        try assert("Saved on thread worker", "ok      Saved on thread worker: 2 handlers", onWorker)
        try assert("Saved on thread 2", "ok      Saved on thread 2: 2 handlers", onWorker)
        try assert(
            "Saved on main",
            """
            FAILED  Saved on main: 2 of 2 handlers ran on another thread
              observer 1 of Saved ran on worker 2 times
            """, onWorker)
    }

    func testHandlersOfANameDoNotRunOnMainOrOnAThread() throws {
        try assert("Saved not on main", "ok      Saved not on main: 2 handlers", onWorker)
        try assert(
            "Saved not on thread worker",
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

    func testARuleAboutANameOrAThreadThatTheRecordingDoesNotHaveFails() throws {
        for (rule, expected) in [
            ("Savd on main", "the recording does not have the notification Savd; did you mean Saved?"),
            ("Other not on main", "the recording does not have the notification Other"),
            ("Savd observed", "the recording does not have the notification Savd; did you mean Saved?"),
            ("Savd before Saved", "the recording does not have the notification Savd; did you mean Saved?"),
            ("Saved before Savd", "the recording does not have the notification Savd; did you mean Saved?"),
            ("Saved not on thread wrker", "the recording does not have the thread wrker; did you mean worker?"),
            ("Done before Saved on thread x", "the recording does not have the thread x"),
        ] {
            try assert(rule, "FAILED  \(rule): \(expected)") { story in
                onWorker(&story)
                story.register(9, "Done")
            }
        }
        try assert(
            "Saved on thread wrker",
            """
            FAILED  Saved on thread wrker: the recording does not have the thread wrker; did you mean worker?
              observer 1 of Saved ran on worker 2 times
            """, onWorker)
    }

    func testARuleAboutANameThatIsNotHandledOrNotPostedFails() throws {
        let registered: (inout RecordedStory) -> Void = { $0.register(1, "Saved") }
        try assert(
            "Saved not on main", "FAILED  Saved not on main: no handler of Saved ran; it was never posted", registered)
        try assert("Saved observed", "FAILED  Saved observed: Saved was never posted", registered)
        try assert("every post observed", "FAILED  every post observed: nothing was posted", registered)
        try assert(
            "Done before Saved on main",
            """
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
    }

    func testRulesThatBeginWithNoOrAtMostHoldWithoutTheirNameOrThread() throws {
        for (rule, explanation) in [
            ("at most 5 Savd per second", "the recording does not have the notification Savd; did you mean Saved?"),
            (
                "no handler on thread wrker longer than 5 ms",
                "the recording does not have the thread wrker; did you mean worker?"
            ),
            ("no handler on main longer than 5 ms", "0 handlers"),
        ] { try assert(rule, "ok      \(rule): \(explanation)", onWorker) }
        for (rule, explanation) in [
            ("no post longer than 5 ms", "0 posts"), ("no observer left at exit", "0 observers"),
            ("no finding", "no findings"),
        ] { try assert(rule, "ok      \(rule): \(explanation)") { _ in } }
    }

    // MARK: Delays and orders

    func testEachHandlerBeginsWithinATimeAfterItsPostAndWhatWaitsAtTheEndIsTooLate() throws {
        let story: (inout RecordedStory) -> Void = { story in
            self.onWorker(&story)
            story.hand(3, to: [1], "Saved")
            story.pass(.milliseconds(60))
            story.handle(3, by: 1)
        }
        try assert("Saved within 100 ms", "ok      Saved within 100 ms: 3 deliveries, after at most 62 ms", story)
        let failure = try text("Saved within 50 ms", of: RecordedStory.complete(story))
        XCTAssertTrue(
            failure.hasPrefix(
                """
                FAILED  Saved within 50 ms: 1 of 3 deliveries came later, up to 62 ms after the post
                  observer 1 of Saved received #3 62 ms after it was posted
                """), failure)
        let waiting = try text(
            "Saved within 10 s",
            of: RecordedStory.complete { story in
                story.register(1, "Saved")
                story.hand(1, to: [1], "Saved")
            })
        XCTAssertTrue(
            waiting.hasPrefix(
                """
                FAILED  Saved within 10 s: 1 waited when the recording ended
                  observer 1 of Saved had not received 1 notification when the recording ended
                """), waiting)
    }

    func testAtMostSomeNotificationsOfANameWaitForEachObserver() throws {
        let story: (inout RecordedStory) -> Void = { story in
            for observer in 1...2 { story.register(observer, "Saved") }
            for post in 1...3 { story.hand(post, to: [1, 2], "Saved") }
            for post in 1...3 { story.handle(post, by: 1) }
            story.hand(4, to: [1, 2], "Saved")
        }
        try assert("Saved at most 4 waiting", "ok      Saved at most 4 waiting: at most 4 waiting", story)
        let failure = try text("Saved at most 3 waiting", of: RecordedStory.complete(story))
        XCTAssertTrue(
            failure.hasPrefix(
                """
                FAILED  Saved at most 3 waiting: up to 4 waiting
                  4 waited for observer 2 of Saved at the same time
                """), failure)
    }

    func testEachHandlerOfANameComesAfterTheOneOfTheOtherNameWithItsNumber() throws {
        func story(_ names: [String]) -> (inout RecordedStory) -> Void {
            { story in
                for (observer, name) in ["A", "B"].enumerated() { story.register(observer + 1, name) }
                for (post, name) in names.enumerated() {
                    story.deliver(post + 1, to: [name == "A" ? 1 : 2], name)
                }
            }
        }
        try assert("each A before B", "ok      each A before B: 2 handlers of B", story(["A", "A", "B", "B"]))
        try assert("A before B", "ok      A before B: 2 handlers of B", story(["A", "B", "B", "A"]))
        let failure = try text("each A before B", of: RecordedStory.complete(story(["A", "B", "B", "A"])))
        XCTAssertTrue(
            failure.hasPrefix(
                """
                FAILED  each A before B: 1 of 2 handlers of B ran before its A
                  worker handled B once before its own A
                """), failure)
    }

    // MARK: Observers

    func testEachPostOfANameHasAnObserver() throws {
        try assert("Saved observed", "ok      Saved observed: 2 posts", onWorker)
        try assert(
            "Saved observed",
            """
            FAILED  Saved observed: 2 of 3 posts had no observer
              Saved was posted by main 2 times without an observer
                observer 1 of Saved, observed at Demo/main.swift:1, was added later (line 3)
            """
        ) { story in
            for post in 1...2 { story.add(.post, "Saved", post: post, at: 7, count: 0) }
            story.register(1, "Saved")
            story.deliver(3, to: [1], "Saved")
            story.add(.post, "Other", post: 4, count: 0)
        }
    }

    func testEachPostOfAnyNameHasAnObserver() throws {
        try assert("every post observed", "ok      every post observed: 2 posts", onWorker)
        try assert(
            "every post observed",
            """
            FAILED  every post observed: 2 of 2 posts had no observer
              Saved was posted by main once without an observer
              Done was posted by worker once without an observer
            """
        ) { story in
            story.add(.post, "Saved", post: 1, at: 7, count: 0)
            story.add(.post, on: RecordedStory.worker, post: 2, count: 0)
        }
    }

    func testNoObserverIsLeftAtExit() throws {
        let removed: (inout RecordedStory) -> Void = { story in
            story.register(1, "Saved")
            story.add(.remove, "Saved", observer: 1, count: 0)
        }
        try assert("no observer left at exit", "ok      no observer left at exit: 1 observer", removed)
        try assert(
            "no observer left at exit",
            """
            FAILED  no observer left at exit: 3 of 4 observers were not removed
              observer 2 of Saved and 1 more that was added there were not removed
              observer 4 of Done was not removed
            """
        ) { story in
            removed(&story)
            for observer in 2...3 { story.add(.register, "Saved", observer: observer, at: 9) }
            story.add(.register, observer: 4, at: 9)
        }
        try assert(
            "no observer left at exit",
            "FAILED  no observer left at exit: the recording is truncated: it does not say which observers were left "
                + "at exit", truncated: true, removed)
    }

    func testARecordingThatWasStoppedSaysSoAndOneWithLostRecordsDoesNotSayWhichObserversWereLeft() throws {
        func text(_ happen: (inout RecordedStory) -> Void) throws -> String {
            var story = RecordedStory()
            story.register(1)
            story.add(.remove, observer: 1, count: 0)
            happen(&story)
            let rule = try XCTUnwrap(try RuleParser.rule("no observer left at exit", source: ""))
            return try XCTUnwrap(RuleCheck([rule], RecordingIndex(story.recording)).results.last).explanation
        }
        XCTAssertEqual(try text { $0.end(.stopped) }, "1 observer when the recording was stopped")
        XCTAssertEqual(
            try text { story in
                story.add(.lost, nil, count: 3)
                story.end()
            }, "the recording is truncated: it does not say which observers were left at exit")
    }

    // MARK: Order

    func testTheHandlersOfANameComeAfterThoseOfAnotherOnAThread() throws {
        let ordered: (inout RecordedStory) -> Void = { story in
            story.register(1, "Opened")
            story.register(2, "Saved")
            story.deliver(1, to: [1], "Opened")
            for post in 2...3 { story.deliver(post, to: [2], "Saved") }
        }
        try assert("Opened before Saved", "ok      Opened before Saved: 2 handlers of Saved", ordered)
        try assert(
            "Opened before Saved on thread worker",
            "ok      Opened before Saved on thread worker: 2 handlers of Saved", ordered)
        let early: (inout RecordedStory) -> Void = { story in
            ordered(&story)
            story.deliver(4, to: [2], on: RecordedStory.other, "Saved")
            story.deliver(5, to: [1], on: RecordedStory.other, "Opened")
            story.deliver(6, to: [2], on: RecordedStory.main, "Saved")
        }
        try assert(
            "Opened before Saved on thread worker",
            "ok      Opened before Saved on thread worker: 2 handlers of Saved", early)
        try assert(
            "Opened before Saved",
            """
            FAILED  Opened before Saved: 2 of 4 handlers of Saved ran before Opened
              other handled Saved once before its first Opened
              main handled Saved once and never Opened
            """, early)
    }

    // MARK: Times

    func testNoHandlerOnAThreadTakesLongerThanATime() throws {
        let slow: (inout RecordedStory) -> Void = { story in
            story.register(1, "Saved", on: RecordedStory.main)
            for (post, time) in zip(1..., [1, 30, 20]) {
                story.hand(post, to: [1], on: RecordedStory.main, from: RecordedStory.worker, "Saved")
                story.handle(post, by: 1, on: RecordedStory.main, "Saved", for: .milliseconds(time))
            }
        }
        let rule = "no handler on main longer than"
        try assert("\(rule) 31 ms", "ok      \(rule) 31 ms: 3 handlers, the longest 31 ms", slow)
        let evidence = """
              observer 1 of Saved took up to 31 ms on main, and was too long 2 times
            """
        try assert(
            "\(rule) 16 ms", "FAILED  \(rule) 16 ms: 2 of 3 handlers took longer, up to 31 ms\n\(evidence)", slow)
        try assert(
            "no handler longer than 16 ms",
            "FAILED  no handler longer than 16 ms: 2 of 3 handlers took longer, up to 31 ms\n\(evidence)", slow)
        try assert(
            "no handler on thread worker longer than 16 ms",
            "ok      no handler on thread worker longer than 16 ms: 0 handlers", slow)
    }

    func testAHandlerThatHasNotReturnedLastsUntilTheRecordingEnds() throws {
        try assert(
            "no handler longer than 16 ms",
            """
            FAILED  no handler longer than 16 ms: 1 of 1 handler took longer, up to 21 ms
              a performed block took 21 ms on worker and had not returned when the recording ended
            """
        ) { story in
            story.add(.append, nil, post: 1, target: RecordedStory.worker)
            story.add(.deliver, on: RecordedStory.worker, nil, post: 1)
            story.pass(.milliseconds(20))
        }
    }

    func testAHandlerWhoseThreadEndsLastsUntilThen() throws {
        try assert(
            "no handler longer than 16 ms",
            """
            FAILED  no handler longer than 16 ms: 1 of 1 handler took longer, up to 21 ms
              a performed block took 21 ms on worker and had not returned when its thread ended
            """
        ) { story in
            story.add(.append, nil, post: 1, target: RecordedStory.worker)
            story.add(.deliver, on: RecordedStory.worker, nil, post: 1)
            story.pass(.milliseconds(20))
            story.add(.threadEnd, on: RecordedStory.worker, nil)
        }
    }

    func testHandlersWithoutARecordedTimeAreCountedAndDoNotHoldARuleByThemselves() throws {
        // The call of an async handler is recorded when it has returned.
        let async: (inout RecordedStory) -> Void = { story in
            story.register(1, "Saved", on: nil)
            story.add(.post, "Saved", post: 1, at: 7, count: 1)
            story.add(.append, "Saved", post: 1, observer: 1)
            story.add(.deliver, on: RecordedStory.worker, "Saved", post: 1, observer: 1)
            story.add(.return, on: RecordedStory.worker, "Saved", post: 1, observer: 1)
        }
        let rule = "no handler longer than 16 ms"
        try assert(rule, "FAILED  \(rule): the recording does not have the time of any of 1 handler", async)
        try assert(rule, "ok      \(rule): 1 handler, the longest 3 ms; the times of 1 more are not recorded") {
            story in
            async(&story)
            story.register(2, "Done", on: RecordedStory.main)
            story.hand(2, to: [2], on: RecordedStory.main, from: RecordedStory.worker)
            story.handle(2, by: 2, on: RecordedStory.main, for: .milliseconds(2))
        }
    }

    func testNoPostBlocksItsThreadForLongerThanATime() throws {
        // The handler of the posting thread runs inside the post; the one on worker does not.
        let nested: (inout RecordedStory) -> Void = { story in
            story.register(1, "Saved", on: nil)
            story.register(2, "Saved")
            story.add(.post, "Saved", post: 1, at: 7, count: 2)
            story.add(.append, "Saved", post: 1, observer: 2, target: RecordedStory.worker)
            story.add(.signal)
            story.handle(1, by: 1, on: RecordedStory.main, "Saved", for: .milliseconds(3))
            story.add(.log, nil, message: "later")
            story.handle(1, by: 2, "Saved", for: .milliseconds(50))
        }
        try assert("no post longer than 7 ms", "ok      no post longer than 7 ms: 1 post, the longest 7 ms", nested)
        try assert(
            "no post longer than 5 ms",
            """
            FAILED  no post longer than 5 ms: 1 of 1 post took longer, up to 7 ms
              a post of Saved blocked main for 7 ms
            """, nested)
    }

    func testAPostLastsForItsWaitForHandlersOrForRoomAndAsLongAsThePostsInItsHandlers() throws {
        try assert(
            "no post longer than 5 ms",
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

    // MARK: Rates

    func testANameIsPostedAtMostSoManyTimesInAnySecond() throws {
        // Posts at 0, 0.4, 0.8, 1.0 and 1.2 s.
        let posts: (inout RecordedStory) -> Void = { story in
            for (post, time) in zip(1..., [0, 400, 400, 200, 200]) {
                story.add(.post, "Progress", post: post, at: 7, count: 0, after: .milliseconds(time))
            }
        }
        let (rule, all) = ("Progress per second", "5 posts")
        try assert("at most 4 \(rule)", "ok      at most 4 \(rule): \(all), at most 4 in a second", posts)
        try assert(
            "at most 3 \(rule)",
            """
            FAILED  at most 3 \(rule): \(all), up to 4 in a second
              Progress was posted 4 times in 800 ms
            """, posts)
    }

    func testARetainedNotificationThatALaterObserverGetsIsObservedAndPostedOnce() throws {
        let retained: (inout RecordedStory) -> Void = { story in
            story.add(.post, "Saved", post: 1, at: 7, count: 0)
            story.add(.post, "Saved", post: 2, at: 7, count: 0, after: .milliseconds(500))
            for observer in 1...2 {
                story.pass(.seconds(10))
                story.register(observer, "Saved", on: RecordedStory.main)
                let post = 2 + observer
                story.add(.capture, "Saved", post: post, count: 1, relatedPost: 2)
                story.handle(post, by: observer, on: RecordedStory.main, "Saved")
            }
        }
        let rule = "at most 1 Saved per second"
        try assert(
            rule,
            """
            FAILED  \(rule): 2 posts, up to 2 in a second
              Saved was posted 2 times in 500 ms
            """, retained)
        try assert(
            "Saved observed",
            """
            FAILED  Saved observed: 1 of 2 posts had no observer
              Saved was posted by main once without an observer
                observer 1 of Saved, observed at Demo/main.swift:1, was added later (line 3)
                observer 2 of Saved, observed at Demo/main.swift:2, was added later (line 7)
            """, retained)
    }

    // MARK: Findings

    func testFindingsOfAKindProblemsOrAnyFindingBreakARuleUnlessTheyAreAccepted() throws {
        let wrong = RecordedStory.complete { story in
            story.register(1, "Saved")
            story.add(.post, "Saved", post: 1, at: 7, count: 1)
            story.add(.append, "Saved", post: 1, observer: 1, target: RecordedStory.worker)
            story.handle(1, by: 1, on: RecordedStory.other, "Saved", for: .milliseconds(20))
        }
        let evidence = """
            1 finding
              problem: observer 1 of Saved should be handled on worker but was handled on other once.
                remedy: Only the center should call the handler. If no other code calls it, report this recording as a \
            bug of the library.
            """
        for rule in ["no finding", "no problem", "no wrongThread"] {
            let shown = rule == "no problem" ? evidence.replacing("1 finding", with: "1 problem") : evidence
            XCTAssertEqual(try text(rule, of: wrong), "FAILED  \(rule): \(shown)")
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
            [
                "FAILED  the recording is complete: there is no end record, so the last records may be missing"
            ])
        XCTAssertTrue(RuleCheck([], RecordingIndex(RecordedStory.complete(onWorker))).holds)
    }
}
