import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Findings about threads, waits and ends.
extension DiagnosisTests {
    // MARK: On which thread

    func testANotificationOrABlockHandledOnAnotherThreadThanDeclared() {
        func story(_ thread: String) -> String {
            "add o1; 1-3: hand #* o1 & \(thread) deliver #* o1 >worker & \(thread) return #* o1"
        }
        expect(
            "problem wrongThread 1 2 4",
            says: "observer 1 of Done should be handled on worker but was handled on other 3 times",
            in: story("other"), notIn: story("worker"))
        func block(_ thread: String) -> String {
            "append - #1 >worker; \(thread) deliver - #1; \(thread) return - #1"
        }
        expect("problem wrongThread 2", in: block("main"), notIn: block("worker"))
    }

    func testHandlersThatRanOnlyOnAnotherThreadThanTheOneThatAddedThePostingThreadObserver() {
        func story(_ thread: String) -> String {
            "add o1 %poster; 1-2: \(thread) post #* n1 & \(thread) handle #* o1"
        }
        expect(
            "note onPostingThread 1 3",
            says: "Handlers of observer 1 of Done ran only on worker, not on main, which added it,",
            in: story("worker"), notIn: story("main"))
        // An async handler may run on any thread. Its call is recorded when it has returned.
        let async = """
            add o1 %poster; 1-2: post #* n1 & append #* o1; worker deliver #1 o1; worker return #1 o1
            other remove o1 n1; other deliver #2 o1; other return #2 o1
            """
        XCTAssertEqual(titles(findings(async)), [])
    }

    func testHandlersOnSeveralThreadsAreANoteAndAProblemIfMainIsOneOfThemOrTwoRunAtTheSameTime() {
        func story(_ thread: String, overlap: Bool = false) -> String {
            let end = "worker return #1 o1"
            return """
                add o1 %poster; worker post #1 n1; worker deliver #1 o1; \(overlap ? "" : end)
                \(thread) post #2 n1; \(thread) handle #2 o1; \(overlap ? end : "")
                """
        }
        expect(
            "note wrongThread 1 3 6",
            says: "Handlers of observer 1 of Done ran on 2 threads (worker and other) because", in: story("other"),
            notIn: story("worker"), leaving: ["note onPostingThread"])
        expect(
            "problem wrongThread 1 3 6", in: story("main"), notIn: story("worker"), leaving: ["note onPostingThread"])
        expect(
            "problem wrongThread 1 3 5", says: "two at the same time", in: story("other", overlap: true),
            notIn: story("worker", overlap: true), leaving: ["note onPostingThread"])
    }

    // MARK: Busy threads

    func testAHandlerOnMainOverItsBudgetIsANoteAndFarOverItAProblem() {
        func story(_ time: String, on thread: String = "main") -> String {
            let hand = "other hand #* o1 >\(thread)"
            return
                "add o1 >\(thread); 1-1: \(hand) & \(thread) handle #* o1; 2-2: \(hand) & \(thread) handle #* o1 \(time)"
        }
        expect(
            "note stalled 1 8 9", says: "occupied the main thread for up to 31 ms, once for longer than 16 ms",
            in: story("30ms"), notIn: story("900ms", on: "worker"))
        expect("problem stalled 1 8 9", in: story("300ms"), notIn: story("14ms"))
        expect(
            "note stalled 1 8 9", in: story("4ms"), notIn: story("2ms"),
            limits: DiagnosisLimits(mainBudget: .milliseconds(4)))
        // A nested handler has a budget of its own.
        let nested = findings(
            """
            add o1 A >main; add o2 B >main; post #1 A n1; deliver #1 o1 A >main
            post #2 B n1; main handle #2 o2 B 20ms; return #1 o1 A
            """)
        XCTAssertEqual(nested.map(title), ["note stalled 2 6 7"])
        let block = recording("other append - #1 >main @5; deliver - #1 >main; return - #1 +300ms")
        let lines = DiagnosisReport(Diagnosis(block)).text().map(\.text)
        XCTAssertTrue(lines[0].hasPrefix("problem: a performed block occupied the main thread for up to 300 ms"))
        XCTAssertTrue(lines[1].hasSuffix("main deliver #1; enqueued at Demo/main.swift:5"), lines[1])
    }

    func testAThreadThatStoppedDrainingWhileOthersContinuedForLongerThanTheLimitIsAProblem() {
        func story(_ time: String) -> String { "add o1; give #1 o1; hand #2 o1; pass \(time); log - 'main goes on'" }
        expect(
            "problem stalled 5 7", says: "worker stopped draining: 1 notification or block waits for it",
            in: story("2s"), notIn: story("900ms"), leaving: ["problem backlog"])
        expect(
            "problem stalled 5 7", in: story("200ms"), notIn: story("50ms"), leaving: ["problem backlog"],
            limits: DiagnosisLimits(stall: .milliseconds(100)))
        // One finding for the thread, and not for each of its observers.
        let never = "1-3: add o* & hand #* o*"
        XCTAssertEqual(titles(findings("\(never); pass 2s")), ["problem stalled"])
        XCTAssertEqual(titles(findings(never)), Array(repeating: "problem neverDelivered", count: 3))
        // The end of the program is no activity of its thread.
        let main = findings("add o1 >main; worker hand #1 o1 >main; pass 2s")
        XCTAssertEqual(titles(main), ["problem stalled"])
        assertSays(main.first, "main stopped draining: 1 notification or block waits")
        let ignores = "add o1; give #1 o1; hand #2 o1; pass 2s"
        expect(
            "problem stalled 7 8", says: "worker continues but does not drain", in: "\(ignores); worker drain -",
            notIn: "\(ignores); worker handle #2 o1")
    }

    func testAHandlerThatNeverReturnedIsNamedWithTheNumberOfNotificationsWaitingForItsThread() {
        let hangs = "add o1; 1-2: hand #* o1; worker deliver #1 o1 >worker; pass 5s"
        expect(
            "problem handlerNeverReturned 1 6",
            says: "worker is in the handler of observer 1 of Done until the recording ends",
            "; 1 notification waits for it", in: hangs, notIn: "\(hangs); worker return #1 o1; worker handle #2 o1")
        // Also if the end does not say its thread.
        for thread in ["main", "worker"] {
            func kinds(_ others: String, ends thread: ThreadIdentity? = nil) -> [Finding] {
                var recording = recording(others)
                recording.entries[recording.entries.count - 1].isThreadKnown = false
                return Diagnosis(recording).findings
            }
            let hangs = "add o1 >\(thread); other hand #1 o1 >\(thread); \(thread) deliver #1 o1; pass 20s"
            let busy = kinds("\(hangs); other log - 'tick'")
            XCTAssertEqual(titles(busy), ["problem handlerNeverReturned"])
            assertSays(busy.first, "recorded nothing else for 20 s")
            // It may have ended the program after long work.
            XCTAssertEqual(titles(kinds(hangs)), ["note handlerNeverReturned"])
            XCTAssertEqual(titles(findings("\(hangs); other log", ends: "\(thread) end - !exit")), [])
        }
    }

    // MARK: Waits

    func testARefusedWaitIsAProblem() {
        expect(
            "problem refusedWait 1", says: "because it would have deadlocked", "worker waits for main",
            in: "refuseWait - '{number = 2, name = worker} waits for main' @4", notIn: "log -")
    }

    func testTwoThreadsThatWaitForEachOtherAtDifferentTimesAreANote() {
        func story(_ target: String) -> String {
            """
            wait - >worker; waitEnd -; worker wait - \(target); worker waitEnd -
            other wait - >worker
            """
        }
        let twin = "wait - >worker; wait - >other; worker wait - >other"
        for target in [">main", "'\(RecordedStory.main) to handle Done'"] {
            expect("note waitsBothWays 1 3", says: "main for worker for main", in: story(target), notIn: twin)
        }
    }

    func testAWaitThatLastedForItsTimeoutIsAProblemWithTheHandlerThatTheOtherThreadWasIn() {
        func story(_ reason: String, isBusy: Bool = false) -> String {
            """
            add o1; hand #1 o1; wait - '\(RecordedStory.worker) to handle Done' @7
            \(isBusy ? "worker deliver #1 o1 >worker" : ""); waitEnd - \(reason) +2s
            worker \(isBusy ? "return" : "handle") #1 o1
            """
        }
        expect(
            "problem waitTimedOut 4 5",
            says: "main waited for worker to handle Done until the timeout, after 2 s, at Demo/main.swift:7.",
            in: story("!timedOut"), notIn: story(""), leaving: ["note longWait"])
        expect(
            "problem waitTimedOut 4 5 6",
            says: "Then worker was in the handler of observer 1 of Done, added at Demo/main.swift:1, for 2 s.",
            in: story("!timedOut", isBusy: true), notIn: story("", isBusy: true), leaving: ["note longWait"])
    }

    /// Main waits for worker, which is in a handler of observer 1 or does something else.
    private func wait(isBusy: Bool, for what: String = "to handle B", _ end: String) -> [Finding] {
        findings(
            """
            add o2 B; \(isBusy ? "add o1 Slow; hand #1 o1 Slow; worker deliver #1 o1 Slow" : "worker log - 'begins'")
            wait - '\(RecordedStory.worker) \(what)' @11; hand #2 o2 B; \(end)
            """, ends: "other end - !exit")
    }

    func testAThreadThatWaitsUntilTheEndIsOneFindingWithWhatTheOtherThreadIsDoing() {
        let idle = wait(isBusy: false, "pass 7s")
        XCTAssertEqual(titles(idle), ["problem longWait"])
        assertSays(
            idle.first,
            "main waits for worker since 7 s at Demo/main.swift:11; worker has recorded nothing since, its last "
                + "record is: worker log \"begins\".")
        let busy = wait(isBusy: true, "pass 7s")
        XCTAssertEqual(titles(busy), ["problem handlerNeverReturned"])
        assertSays(busy.first, "worker is in the handler of observer 1 of Slow until the recording ends")
        XCTAssertEqual(busy.first?.evidence.count, 3, "the wait is evidence")
        // So is the wait of a thread that waits for it.
        let chain = wait(isBusy: true, "other wait - '\(RecordedStory.main) to perform a block'; pass 7s")
        XCTAssertEqual(chain.filter { $0.severity == .problem }.map(\.kind), [.handlerNeverReturned])
    }

    func testAShortWaitIsNoFindingAndALongOneThatEndsIsANote() {
        func end(_ time: String) -> String { "pass \(time); worker handle #2 o2 B; waitEnd -" }
        XCTAssertEqual(titles(wait(isBusy: false, end("30ms"))), [])
        let long = wait(isBusy: false, end("2s"))
        XCTAssertEqual(titles(long), ["note longWait"])
        assertSays(long.first, "main waited for worker for 2.01 s at Demo/main.swift:11.")
        // Such as main, which waits for the end of a thread.
        XCTAssertEqual(titles(wait(isBusy: false, for: "to end", end("2s"))), [])
    }

    func testAWaitForAMainThreadThatNeverRunsItsRunLoopHasTheRemedyForAnAsyncMain() {
        let wait = "log 'begins'; worker wait - '\(RecordedStory.main) to perform a block'; pass 5s"
        for end in ["", "; worker waitEnd - !timedOut"] {
            let finding = findings(wait + end, ends: "other end - !exit").first
            assertSays(finding, "links AsyncMain", "MainRunLoop.run()")
        }
        let continues = findings("\(wait); log 'continues'", ends: "other end - !exit")
        XCTAssertFalse(text(continues.first).contains("AsyncMain"))
    }

    // MARK: Ends

    func testWhatWaitsIsAProblemIfTheProcessExitsOtherwiseANote() {
        let backlog = "add o1 >main; 1-3: worker hand #* o1 >main; main handle #1 o1"
        let exit = findings(backlog)
        XCTAssertEqual(titles(exit), ["problem backlog"])
        assertSays(
            exit.first, "2 of 3 notifications for observer 1 of Done wait for main",
            "posted by worker at Demo/main.swift:1002.")
        XCTAssertEqual(titles(findings(backlog, ends: "end - !stopped")), ["note backlog"])
        XCTAssertEqual(titles(findings(backlog, ends: "end - !signal15")), ["note backlog"])
        XCTAssertEqual(titles(findings(backlog, ends: "")), ["note backlog", "note incomplete"])
        for (recording, end) in [
            (recording(backlog), "2 pending; all others accounted for"),
            (recording("post #1 n0"), "all accounted for"),
            (recording("post #1 n0", ends: ""), "1 posted (1 without an observer)"),
        ] { XCTAssertTrue(Diagnosis(recording).totals.hasSuffix(end), Diagnosis(recording).totals) }
        let slow = "add o1; 1-4: hand #* o1; 1-3: worker handle #* o1 600ms"
        expect(
            "problem backlog 1 8 9",
            says: "1 of 4 notifications for observer 1 of Done waits for worker, the first since 1.8", in: slow,
            notIn: "\(slow); worker handle #4 o1")
        let anyName = findings("add o1 -; hand #1 o1 A; hand #2 o1 B; hand #3 o1 C; worker handle #1 o1 A")
        XCTAssertEqual(titles(anyName), ["problem backlog"])
        assertSays(anyName.first, "2 of 3 notifications for observer 1 of any name wait for worker")
    }

    func testAPostForAnEndedThreadIsAProblemAPendingNotificationWhenTheThreadEndsIsANote() {
        func late(_ outcome: String) -> String { "add o1; worker threadEnd -; hand #1 o1; \(outcome) #1 o1" }
        expect(
            "problem targetGone 1 2 5", says: "did not receive 1 notification posted after worker had ended",
            in: late("targetGone"), notIn: late("cancel"))
        func early(_ outcome: String) -> String { "add o1; hand #1 o1; worker \(outcome) #1 o1; worker threadEnd -" }
        expect(
            "note targetGone 1 4 5", says: "did not receive 1 notification still waiting when worker ended",
            in: early("targetGone"), notIn: early("cancel"))
        expect(
            "problem targetGone 2", says: "1 block was not accepted because worker was never started",
            in: "append - #1 >worker; targetGone - #1 >worker !notStarted", notIn: "log -")
        let block = findings("worker threadEnd -; append - #1 >worker; targetGone - #1 >worker").first
        assertSays(block, "Some blocks were never performed: 1 block handed over", "perform(_:) throws")
        XCTAssertFalse(text(block).contains("token"), text(block))
        let main = findings("add o1 >main; threadEnd -; worker hand #1 o1 >main; worker targetGone #1 o1")
        XCTAssertEqual(titles(main), ["problem targetGone"])
        assertSays(main.first, "async", "dispatchMain()", "Swift Testing", "RunLoopThread")
        let own = findings(
            "worker add o1; hand #1 o1; worker targetGone #1 o1 >worker; worker threadEnd -")
        XCTAssertEqual(titles(own), ["note targetGone"])
        assertSays(own.first, "worker (thread 2)", "RunLoop.current.run()")
    }

    func testOfACrashWithoutItsThreadTheHandlersAreCandidatesInANoteUnlessNoOtherThreadCanHaveCrashed() {
        func crash(_ running: [String], others: Bool = false, signal: Int = 11) -> Finding? {
            let handlers = running.enumerated().map { number, thread in
                "\(thread) add o\(number) >\(thread); \(thread) post #\(number) n1; \(thread) deliver #\(number) o\(number)"
            }
            var recording = recording(
                (others ? ["log"] : []).joined() + ";" + handlers.joined(separator: ";"),
                ends: "end - !signal\(signal)")
            recording.entries[recording.entries.count - 1].isThreadKnown = false
            return Diagnosis(recording).findings.first
        }
        let one = crash(["worker"], others: true)
        XCTAssertEqual(one?.severity, .note)
        assertSays(one, "while 1 thread was in a handler", "candidate: worker in the handler of observer 0 of Done")
        assertSays(crash(["worker", "other"], others: true), "2 threads were in handlers")
        XCTAssertEqual(crash(["main"])?.severity, .problem)
        XCTAssertEqual(crash(["worker"], others: true, signal: 9)?.severity, .note)
        assertSays(crash(["worker"], others: true, signal: 9), "was asked to end")
        // A failed precondition is not called a use after release.
        for (signal, isRelease) in [(4, false), (5, false), (6, false), (11, true)] {
            let findings = findings("add o1 >main; post #1 n1; deliver #1 o1 >main", ends: "end - !signal\(signal)")
            XCTAssertEqual(titles(findings), ["problem endedInHandler"])
            XCTAssertEqual(text(findings.first).contains("released"), isRelease)
        }
    }

    func testATruncatedRecordingLostRecordsAndAForkAreNotes() {
        XCTAssertEqual(findings("log -", ends: "").map(title), ["note incomplete 1"])
        expect("note incomplete 1", says: "7 records were lost", in: "lost - n7", notIn: "log -")
        expect("note fork 1", says: "forked once; no copy is in this recording", in: "fork -", notIn: "log -")
        var story = RecordedStory("log; fork -; end - !exit")
        story.process = ProcessIdentity(id: 200, name: "program")
        story.end()
        assertSays(Diagnosis(story.recording).findings.first, "this recording also has 1 later process of its name")
    }
}
