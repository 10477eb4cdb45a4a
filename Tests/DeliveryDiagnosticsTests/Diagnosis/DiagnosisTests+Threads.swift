import DeliveryRecording
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Findings about threads, waits and ends.
extension DiagnosisTests {
    func testAThreadThatStoppedDrainingWhileOthersContinuedForLongerThanTheLimitIsAProblem() {
        func story(_ duration: Duration) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.deliver(1, to: [1])
                story.hand(2, to: [1])
                story.pass(duration)
                story.add(.log, nil, message: "main goes on")
            }
        }
        expect(
            .stalled, evidence: [5, 7], says: ["worker stopped draining: 1 notification or block waits for it"],
            in: story(.seconds(2)), notIn: story(.milliseconds(900)), leaving: [.backlog])
        expect(
            .stalled, evidence: [5, 7], limits: DiagnosisLimits(stall: .milliseconds(100)),
            in: story(.milliseconds(200)), notIn: story(.milliseconds(50)), leaving: [.backlog])
    }

    func testAThreadThatNeverDrainedIsReportedOnceNotForEachOfItsObservers() {
        func story(_ duration: Duration) -> Recording {
            Story.complete { story in
                for observer in 1...3 {
                    story.register(observer)
                    story.hand(observer, to: [observer])
                }
                story.pass(duration)
            }
        }
        XCTAssertEqual(Diagnosis(story(.seconds(2))).findings.map(\.kind), [.stalled])
        let kinds = Diagnosis(story(.zero)).findings.map(\.kind)
        XCTAssertEqual(kinds, [.neverDelivered, .neverDelivered, .neverDelivered])
    }

    func testTheEndOfTheProgramIsNotCountedAsActivityOfItsThread() {
        let findings = Diagnosis(
            Story.complete { story in
                story.register(1, on: Story.main)
                story.hand(1, to: [1], on: Story.main, from: Story.worker)
                story.pass(.seconds(2))
            }
        ).findings
        XCTAssertEqual(findings.map(\.kind), [.stalled])
        XCTAssertEqual(findings.first?.problem.hasPrefix("main stopped draining: 1 notification or block waits"), true)
    }

    func testAThreadThatContinuesAndIgnoresItsPendingNotificationsIsAProblem() {
        func story(_ isHandled: Bool) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.deliver(1, to: [1])
                story.hand(2, to: [1])
                story.pass(.seconds(2))
                if isHandled { story.handle(2, by: 1) } else { story.add(.drain, on: Story.worker, nil) }
            }
        }
        expect(
            .stalled, evidence: [7, 8], says: ["worker continues but does not drain"], in: story(false),
            notIn: story(true))
    }

    func testAHandlerThatNeverReturnedIsNamedWithTheNumberOfNotificationsWaitingForItsThread() {
        func story(_ isBack: Bool) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.hand(1, to: [1])
                story.hand(2, to: [1])
                story.add(.deliver, on: Story.worker, post: 1, observer: 1, target: Story.worker)
                story.pass(.seconds(5))
                guard isBack else { return }
                story.add(.return, on: Story.worker, post: 1, observer: 1)
                story.handle(2, by: 1)
            }
        }
        expect(
            .handlerNeverReturned, evidence: [1, 6],
            says: [
                "worker is in the handler of observer 1 of Done until the recording ends",
                "; 1 notification waits for it",
            ],
            in: story(false), notIn: story(true))
    }

    func testARefusedWaitIsAProblem() {
        func story(_ stage: DeliveryStage) -> (inout Story) -> Void {
            { $0.add(stage, nil, message: "{number = 2, name = worker} waits for main", at: 4) }
        }
        expect(
            .refusedWait, evidence: [1],
            says: ["because it would have deadlocked", "worker waits for main"],
            in: story(.refuseWait), notIn: story(.log))
    }

    func testTwoThreadsThatWaitForEachOtherAtDifferentTimesAreANote() {
        func story(_ target: ThreadIdentity, isWordy: Bool = false) -> (inout Story) -> Void {
            { story in
                story.add(.wait, nil, target: Story.worker)
                story.add(.waitEnd, nil)
                story.add(
                    .wait, on: Story.worker, nil, target: isWordy ? nil : target,
                    message: isWordy ? "\(target) to handle Done" : nil)
                story.add(.waitEnd, on: Story.worker, nil)
                story.add(.wait, on: Story.other, nil, target: Story.worker)
            }
        }
        expect(
            .waitsBothWays, .note, evidence: [1, 3], says: ["main for worker for main"], in: story(Story.main),
            notIn: { story in
                story.add(.wait, nil, target: Story.worker)
                story.add(.wait, nil, target: Story.other)
                story.add(.wait, on: Story.worker, nil, target: Story.other)
            })
        expect(
            .waitsBothWays, .note, evidence: [1, 3], in: story(Story.main, isWordy: true),
            notIn: { $0.add(.wait, nil, target: Story.worker) })
    }

    func testDropsByAnOverflowPolicyAreANoteWithThePolicy() {
        func story(_ outcome: DeliveryStage) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.deliver(1, to: [1])
                story.hand(2, to: [1])
                story.add(outcome, post: 2, observer: 1, count: 2, policy: .dropNewest)
            }
        }
        expect(
            .dropped, .note, evidence: [1, 8],
            says: ["policy (dropNewest(2)) of observer 1 of Done dropped 1 of 2"], in: story(.drop),
            notIn: story(.cancel))
    }

    func testAPostForAnEndedThreadIsAProblemAPendingNotificationWhenTheThreadEndsIsANote() {
        func story(endFirst: Bool, _ outcome: DeliveryStage) -> (inout Story) -> Void {
            { story in
                story.register(1)
                if endFirst { story.add(.threadEnd, on: Story.worker, nil) }
                story.hand(1, to: [1])
                story.add(outcome, on: endFirst ? Story.main : Story.worker, post: 1, observer: 1)
                if !endFirst { story.add(.threadEnd, on: Story.worker, nil) }
            }
        }
        expect(
            .targetGone, evidence: [1, 2, 5], says: ["did not receive 1 notification posted after worker had ended"],
            in: story(endFirst: true, .targetGone), notIn: story(endFirst: true, .cancel))
        expect(
            .targetGone, .note, evidence: [1, 4, 5],
            says: ["did not receive 1 notification still waiting when worker ended"],
            in: story(endFirst: false, .targetGone), notIn: story(endFirst: false, .cancel))
    }

    func testABlockForAThreadThatWasNeverStartedIsAProblemOfItsOwn() {
        func story(_ reason: Recording.Reason?) -> (inout Story) -> Void {
            { story in
                story.add(.append, nil, post: 1, target: Story.worker)
                story.add(.targetGone, nil, post: 1, target: Story.worker, reason: reason)
            }
        }
        expect(
            .targetGone, evidence: [2], says: ["1 block was not accepted because worker was never started"],
            in: story(.notStarted), notIn: { $0.add(.log, nil) })
        XCTAssertEqual(Diagnosis(Story.complete(story(nil))).findings.map(\.kind), [.targetGone])
    }

    func testAMainThreadThatEndedHasCausesAndRemediesForProgramsAndForTests() {
        let findings = Diagnosis(
            Story.complete { story in
                story.register(1, on: Story.main)
                story.add(.threadEnd, nil)
                story.hand(1, to: [1], on: Story.main, from: Story.worker)
                story.add(.targetGone, on: Story.worker, post: 1, observer: 1)
            }
        ).findings
        XCTAssertEqual(findings.map(\.kind), [.targetGone])
        for words in ["async", "dispatchMain()", "Swift Testing", "RunLoopThread"] {
            XCTAssertEqual(findings.first?.remedy.contains(words), true)
        }
    }

    func testHandlersThatRanOnlyOnAnotherThreadThanTheOneThatAddedThePostingThreadObserver() {
        func story(_ thread: ThreadIdentity) -> (inout Story) -> Void {
            { story in
                story.register(1, on: nil)
                for post in 1...2 {
                    story.add(.post, on: thread, post: post, count: 1)
                    story.handle(post, by: 1, on: thread)
                }
            }
        }
        expect(
            .onPostingThread, .note, evidence: [1, 3],
            says: ["Handlers of observer 1 of Done ran only on worker, not on main, which added it,"],
            in: story(Story.worker), notIn: story(Story.main))
    }

    func testAnAsyncHandlerMayRunOnAnyThread() {
        let findings = Diagnosis(
            Story.complete { story in
                story.register(1, on: nil)
                for (post, thread) in [(1, Story.worker), (2, Story.other)] {
                    story.add(.post, post: post, count: 1)
                    story.add(.append, post: post, observer: 1)
                    // A call is recorded when it has returned, on the thread where it did.
                    if post == 2 { story.add(.remove, on: thread, observer: 1, count: 1) }
                    story.add(.deliver, on: thread, post: post, observer: 1)
                    story.add(.return, on: thread, post: post, observer: 1)
                }
            }
        ).findings
        XCTAssertEqual(findings.map(\.kind), [])
    }

    func testHandlersOnSeveralThreadsAreANoteAndAProblemIfMainIsOneOfThemOrTwoRunAtTheSameTime() {
        func story(_ thread: ThreadIdentity, overlap: Bool = false, on target: ThreadIdentity? = nil) -> (inout Story)
            -> Void
        {
            { story in
                story.register(1, on: target)
                story.add(.post, on: Story.worker, post: 1, count: 1)
                story.add(.deliver, on: Story.worker, post: 1, observer: 1)
                if !overlap { story.add(.return, on: Story.worker, post: 1, observer: 1) }
                story.add(.post, on: thread, post: 2, count: 1)
                story.handle(2, by: 1, on: thread)
                if overlap { story.add(.return, on: Story.worker, post: 1, observer: 1) }
            }
        }
        expect(
            .wrongThread, .note, evidence: [1, 3, 6],
            says: ["Handlers of observer 1 of Done ran on 2 threads (worker and other) because"],
            in: story(Story.other),
            notIn: story(Story.worker), leaving: [.onPostingThread])
        expect(
            .wrongThread, evidence: [1, 3, 6], in: story(Story.main), notIn: story(Story.worker),
            leaving: [.onPostingThread])
        expect(
            .wrongThread, evidence: [1, 3, 5], says: ["two at the same time"], in: story(Story.other, overlap: true),
            notIn: story(Story.worker, overlap: true), leaving: [.onPostingThread])
    }

    func testAWaitThatLastedForItsTimeoutIsAProblemWithTheHandlerThatTheOtherThreadWasIn() {
        func story(_ reason: Recording.Reason?, isBusy: Bool = false) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.hand(1, to: [1])
                story.add(.wait, nil, message: "\(Story.worker) to handle Done", at: 7)
                if isBusy { story.add(.deliver, on: Story.worker, post: 1, observer: 1, target: Story.worker) }
                story.add(.waitEnd, nil, reason: reason, after: .seconds(2))
                if isBusy { story.add(.return, on: Story.worker, post: 1, observer: 1) } else { story.handle(1, by: 1) }
            }
        }
        expect(
            .waitTimedOut, evidence: [4, 5],
            says: ["main waited for worker to handle Done until the timeout, after 2 s, at Demo/main.swift:7."],
            in: story(.timedOut), notIn: story(nil), leaving: [.longWait])
        expect(
            .waitTimedOut, evidence: [4, 5, 6],
            says: ["Then worker was in the handler of observer 1 of Done, added at Demo/main.swift:1, for 2 s."],
            in: story(.timedOut, isBusy: true), notIn: story(nil, isBusy: true), leaving: [.longWait])
    }

    func testTheReportCountsTheFindingsAndTheNextCommandShowsTheFirst() {
        func selection(_ happen: (inout Story) -> Void) -> [String] {
            Diagnosis(Story.complete(happen)).firstSelection
        }
        let diagnosis = Diagnosis(
            Story.complete { story in
                story.add(.refuseWait, nil)
                story.register(1)
                story.hand(1, to: [1])
                story.add(.drop, post: 1, observer: 1)
                story.add(.post, "Other", post: 2, count: 0)
                for post in 3...4 { story.add(.append, nil, post: post, target: Story.worker) }
                story.add(.deliver, on: Story.worker, nil, post: 3)
                story.add(.return, on: Story.worker, nil, post: 3)
                story.add(.cancel, nil, post: 4)
            })
        XCTAssertEqual(
            diagnosis.totals,
            "1 problem, 1 note; 2 posted (1 without an observer), 1 matched, 1 dropped; "
                + "2 blocks, 1 performed, 1 cancelled; all accounted for")
        XCTAssertEqual(diagnosis.firstSelection, [])
        XCTAssertEqual(selection { $0.register(1) }, ["--name", "Done"])
    }

    func testAcceptedFindingsAreLeftOutByKindOrByKindAndNameAndCounted() throws {
        let recording = Story.complete { story in
            for observer in 1...2 {
                story.register(observer, "\(observer)")
                story.hand(observer, to: [observer], "\(observer)")
                story.add(.drop, "\(observer)", post: observer, observer: observer)
            }
            story.add(.fork, nil)
        }
        for (text, kinds) in [
            ("", [Finding.Kind.dropped, .dropped, .fork]), ("# fork\n\n dropped 2 # known\n", [.dropped, .fork]),
            ("dropped\r\nfork", []), ("dropped 3\nfork\t", [.dropped, .dropped]),
        ] {
            let accepted = try AcceptedFindings(text: text, source: "accepted")
            let diagnosis = Diagnosis(recording, accepted: accepted)
            XCTAssertEqual(diagnosis.findings.map(\.kind), kinds)
            XCTAssertEqual(diagnosis.acceptedCount, 3 - kinds.count)
        }
        // A kind of an earlier version accepts what it accepted then.
        let slow = Story.complete { story in
            story.register(1, on: Story.main)
            story.add(.post, post: 1, count: 1)
            story.add(.deliver, post: 1, observer: 1, target: Story.main)
            story.pass(.milliseconds(20))
            story.add(.return, post: 1, observer: 1)
        }
        for (text, unused) in [("mainHeldUp", []), ("fork\nstalled Done", ["accepted:1: fork"])] {
            let accepted = try AcceptedFindings(text: text, source: "accepted")
            let diagnosis = Diagnosis(slow, accepted: accepted)
            XCTAssertEqual(diagnosis.findings, [])
            XCTAssertEqual(diagnosis.unusedAccepted, unused)
        }
        XCTAssertThrowsError(try AcceptedFindings(text: "fork\ndroped", source: "accepted")) { error in
            XCTAssertTrue(
                "\(error)".hasPrefix("accepted:2: \"droped\" is not a kind of finding. Did you mean dropped?"))
        }
        assertThrows(LogError.self) { try AcceptedFindings(path: "/nonexistent") }
        XCTAssertEqual(
            Diagnosis(recording).totals, "3 notes; 2 posted, 2 matched, 2 dropped; all accounted for")
    }

    func testATruncatedRecordingLostRecordsAndAForkAreNotes() {
        expect(
            .incomplete, .note, evidence: [1], in: Story.truncated { $0.add(.log, nil) },
            notIn: Story.complete { $0.add(.log, nil) })
        expect(
            .incomplete, .note, evidence: [1], says: ["7 records were lost"],
            in: { $0.add(.lost, nil, count: 7) }, notIn: { $0.add(.log, nil) })
        expect(.fork, .note, evidence: [1], in: { $0.add(.fork, nil) }, notIn: { $0.add(.log, nil) })
    }

    func testTheMostSevereFindingIsFirstAndWithinAKindTheMostFrequent() {
        let recording = Story.complete { story in
            for observer in 1...3 { story.register(observer, "\(observer)") }
            for observer in 1...3 {
                for post in 0..<observer {
                    story.hand(observer * 10 + post, to: [observer], "\(observer)")
                    story.add(.drop, "\(observer)", post: observer * 10 + post, observer: observer)
                }
            }
            for _ in 1...5 { story.add(.fork, nil) }
            story.add(.refuseWait, nil)
        }
        let findings = Diagnosis(recording).findings
        XCTAssertEqual(findings.map(\.kind), [.refusedWait, .dropped, .dropped, .dropped, .fork])
        XCTAssertEqual(findings.map(\.weight), [1, 3, 2, 1, 5])
    }
}
