import DeliveryRecording
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Findings whose words, severity or absence depend on what else is recorded.
extension DiagnosisTests {
    private func findings(
        ends reason: Recording.Reason? = .exit, on thread: ThreadIdentity? = Story.main,
        _ happen: (inout Story) -> Void
    ) -> [Finding] {
        var story = Story()
        happen(&story)
        if let reason { story.add(.end, on: thread ?? Story.main, nil, reason: reason) }
        var recording = story.recording
        if thread == nil { recording.entries[recording.entries.count - 1].isThreadKnown = false }
        return Diagnosis(recording).findings
    }

    private func titles(_ findings: [Finding]) -> [String] { findings.map { "\($0.severity) \($0.kind)" } }

    /// Everything that a finding says.
    private func text(_ finding: Finding?) -> String {
        finding.map { ([$0.problem] + $0.details + [$0.remedy]).joined(separator: "\n") } ?? ""
    }

    private func assertSays(_ finding: Finding?, _ words: String..., line: UInt = #line) {
        for word in words { XCTAssertTrue(text(finding).contains(word), "\(text(finding)): \(word)", line: line) }
    }

    // MARK: At the end

    /// Worker posts three notifications for main, which handles the first.
    private func backlog(_ story: inout Story) {
        story.register(1, on: Story.main)
        for post in 1...3 { story.hand(post, to: [1], on: Story.main, from: Story.worker) }
        story.handle(1, by: 1, on: Story.main)
    }

    func testWhatWaitsIsAProblemIfTheProcessExitsOtherwiseANoteAndIsNotAccountedFor() {
        let exit = findings(backlog)
        XCTAssertEqual(titles(exit), ["problem backlog"])
        assertSays(
            exit.first, "2 of 3 notifications for observer 1 of Done wait for main",
            "posted by worker at Demo/main.swift:1002.")
        XCTAssertEqual(titles(findings(ends: .stopped, backlog)), ["note backlog"])
        XCTAssertEqual(titles(findings(ends: .signal(15), backlog)), ["note backlog"])
        XCTAssertEqual(titles(findings(ends: nil, backlog)), ["note backlog", "note incomplete"])
        for (recording, end) in [
            (Story.complete(backlog), "2 pending; all others accounted for"),
            (Story.complete { $0.deliver(1, to: []) }, "all accounted for"),
            (Story.truncated { $0.deliver(1, to: []) }, "1 posted (1 without an observer)"),
        ] { XCTAssertTrue(Diagnosis(recording).totals.hasSuffix(end), Diagnosis(recording).totals) }
    }

    func testWhatWaitsForAnObserverOfAnyNameIsOneFindingAndBlocksAreFoundBesideAHandlerThatPostsToItself() {
        let anyName = findings { story in
            story.register(1, nil)
            for (post, name) in ["A", "B", "C"].enumerated() { story.hand(post, to: [1], name) }
            story.handle(0, by: 1, "A")
        }
        XCTAssertEqual(titles(anyName), ["problem backlog"])
        assertSays(anyName.first, "2 of 3 notifications for observer 1 of any name wait for worker")
        let blocks = findings { story in
            for block in 100...102 { story.add(.append, nil, post: block, target: Story.other) }
            for post in 1...12 {
                story.hand(post, to: [5], from: Story.worker)
                if post > 1 { story.add(.return, on: Story.worker, post: post - 1, observer: 5) }
                story.add(.deliver, on: Story.worker, post: post, observer: 5)
            }
        }
        XCTAssertEqual(titles(blocks), ["problem selfPosting", "problem backlog"])
        assertSays(blocks.last, "3 of 3 blocks wait for other")
    }

    func testANameThatAnotherProcessEnqueuedIsStillFoundMisspelt() {
        let findings = findings { story in
            story.add(.enqueue, "ItemSaved", post: 1, target: Story.main, style: .asap)
            story.end()
            story.process = ProcessIdentity(id: 200, name: "other")
            story.register(1, "ItemSaved")
            story.add(.post, "ItemSeved", post: 1, count: 0)
        }
        XCTAssertEqual(titles(findings), ["problem enqueuedNeverPosted", "problem unmatchedName"])
    }

    // MARK: Handlers that do not return

    /// A handler of a thread is called and does not return for 20 s.
    private func hanging(
        on thread: ThreadIdentity, _ others: @escaping (inout Story) -> Void
    ) -> (inout Story) -> Void {
        { story in
            story.register(1, on: thread)
            story.hand(1, to: [1], on: thread, from: Story.other)
            story.add(.deliver, on: thread, post: 1, observer: 1)
            story.pass(.seconds(20))
            others(&story)
        }
    }

    func testAHandlerThatHangsIsFoundAlsoIfTheEndDoesNotSayItsThread() {
        for thread in [Story.main, Story.worker] {
            let busy = findings(on: nil, hanging(on: thread) { $0.add(.log, on: Story.other, message: "tick") })
            XCTAssertEqual(titles(busy), ["problem handlerNeverReturned"])
            assertSays(busy.first, "recorded nothing else for 20 s")
            // It may have ended the program after long work.
            XCTAssertEqual(titles(findings(on: nil, hanging(on: thread) { _ in })), ["note handlerNeverReturned"])
        }
        let ended = findings(on: Story.worker, hanging(on: Story.worker) { $0.add(.log, on: Story.other) })
        XCTAssertEqual(titles(ended), [])
    }

    // MARK: Waits

    func testAPostThatWaitsForAnOperationQueueNamesTheObserverThatWasThereAndOfSeveralAllAsCandidates() {
        func waiting(_ observers: ClosedRange<Int>) -> [Finding] {
            findings { story in
                story.addFoundationObserver(1, queue: "main")
                story.removeFoundationObserver(1)
                for observer in observers { story.addFoundationObserver(observer, queue: "5") }
                story.beginFoundationPost(1, from: Story.worker)
                story.pass(.seconds(9))
            }
        }
        XCTAssertEqual(titles(waiting(2...2)), ["problem queueBlocksPoster"])
        assertSays(waiting(2...2).first, "the handler of observer 2 of Done, which its operation queue did not begin")
        assertSays(
            waiting(2...3).first, "one of 2 candidates", "candidate: observer 2 of Done",
            "candidate: observer 3 of Done")
    }

    /// Main waits for worker, which is in a handler of observer 1 or does something else.
    private func wait(isBusy: Bool, for what: String = "to handle B", _ end: (inout Story) -> Void) -> [Finding] {
        findings(on: Story.other) { story in
            story.register(2, "B")
            if isBusy {
                story.register(1, "Slow")
                story.hand(1, to: [1], "Slow")
                story.add(.deliver, on: Story.worker, "Slow", post: 1, observer: 1)
            } else {
                story.add(.log, on: Story.worker, message: "begins")
            }
            story.add(.wait, nil, message: "\(Story.worker) \(what)", at: 11)
            story.hand(2, to: [2], "B")
            end(&story)
        }
    }

    func testAThreadThatWaitsUntilTheEndIsOneFindingWithWhatTheOtherThreadIsDoing() {
        let idle = wait(isBusy: false) { $0.pass(.seconds(7)) }
        XCTAssertEqual(titles(idle), ["problem longWait"])
        assertSays(
            idle.first,
            "main waits for worker since 7 s at Demo/main.swift:11; worker has recorded nothing since, its last "
                + "record is: worker log \"begins\".")
        let busy = wait(isBusy: true) { $0.pass(.seconds(7)) }
        XCTAssertEqual(titles(busy), ["problem handlerNeverReturned"])
        assertSays(busy.first, "worker is in the handler of observer 1 of Slow until the recording ends")
        XCTAssertEqual(busy.first?.evidence.count, 3, "the wait is evidence")
        // So is the wait of a thread that waits for it.
        let chain = wait(isBusy: true) { story in
            story.add(.wait, on: Story.other, nil, message: "\(Story.main) to perform a block")
            story.pass(.seconds(7))
        }
        XCTAssertEqual(chain.filter { $0.severity == .problem }.map(\.kind), [.handlerNeverReturned])
    }

    func testAShortWaitIsNoFindingAndALongOneThatEndsIsANote() {
        func end(_ time: Duration) -> (inout Story) -> Void {
            { story in
                story.pass(time)
                story.handle(2, by: 2, "B")
                story.add(.waitEnd, nil)
            }
        }
        XCTAssertEqual(titles(wait(isBusy: false, end(.milliseconds(30)))), [])
        let long = wait(isBusy: false, end(.seconds(2)))
        XCTAssertEqual(titles(long), ["note longWait"])
        assertSays(long.first, "main waited for worker for 2.01 s at Demo/main.swift:11.")
        // Such as main, which waits for the end of a thread.
        XCTAssertEqual(titles(wait(isBusy: false, for: "to end", end(.seconds(2)))), [])
    }

    func testAWaitForAMainThreadThatNeverRunsItsRunLoopHasTheRemedyForAnAsyncMain() {
        func wait(isOver: Bool = false, continues: Bool = false) -> Finding? {
            findings(on: Story.other) { story in
                story.add(.log, message: "begins")
                story.add(.wait, on: Story.worker, nil, message: "\(Story.main) to perform a block")
                story.pass(.seconds(5))
                if isOver { story.add(.waitEnd, on: Story.worker, nil, reason: .timedOut) }
                if continues { story.add(.log, message: "continues") }
            }.first
        }
        for finding in [wait(), wait(isOver: true)] { assertSays(finding, "links AsyncMain", "MainRunLoop.run()") }
        XCTAssertFalse(text(wait(continues: true)).contains("AsyncMain"))
    }

    // MARK: Names

    /// An observer of one name, and a post of another one without observers.
    private func names(_ observed: String, _ posted: String) -> Finding? {
        findings { story in
            story.register(1, observed)
            story.add(.post, posted, post: 1, count: 0)
        }.first
    }

    func testNamesThatDifferInAWholeWordAreDifferentNamesAndATypingErrorIsAProblem() {
        for (observed, posted) in [
            ("ApplicationWillFinishLaunching", "ApplicationDidFinishLaunching"), ("JobStart", "JobStop"),
            ("DeviceConnected", "DeviceDisconnected"), ("com.example.get-value", "com.example.set-value"),
            ("Went.Online", "Went.Offline"), ("WindowWillClose", "WindowClose"), ("Step1Done", "Step2Done"),
            ("VolumeMounted", "VolumeUnmounted"),
        ] {
            XCTAssertEqual(names(observed, posted)?.severity, .note, posted)
            assertSays(names(observed, posted), "posted without an observer: \(posted)")
        }
        for (observed, posted) in [
            ("WindowWillClose", "WindowWilClose"), ("JobArrived", "JobArrvied"), ("JobArrived", "jobArrived"),
            ("job.arrived", "JobArrived"), ("JobArrived", "jobs.JobArrived"), ("jobs.JobArrived", "JobArrived"),
        ] {
            XCTAssertEqual(names(observed, posted)?.severity, .problem, posted)
            assertSays(names(observed, posted), "\(posted) was posted once.")
        }
    }

    func testANameIsNotCalledMisspeltBecauseOfAnotherOneThatIsObservedAndDelivered() {
        for (delivered, observed) in [("ItemAdded", "ItemsAdded"), ("UserLogin", "UserLogic"), ("Done", "jobs.Done")] {
            let findings = findings { story in
                story.register(9, observed)
                story.register(1, delivered)
                story.deliver(1, to: [1], delivered)
            }
            XCTAssertEqual(titles(findings), ["note unmatchedName"])
        }
    }

    /// Compared with the product of their lengths, these names would take minutes.
    func testSuggestionsCostAPassOverTheNamesHoweverLongTheyAre() {
        var generator = SeededGenerator(seed: 1)
        func name() -> String { String((0..<100).map { _ in "abcdefghijk".randomElement(using: &generator) ?? "a" }) }
        let findings = findings { story in
            for observer in 1...300 { story.register(observer, name()) }
            for post in 1...1000 { story.add(.post, name(), post: post, count: 0) }
        }
        XCTAssertEqual(findings.map(\.kind), Array(repeating: .unmatchedName, count: 300))
    }

    // MARK: Faults and queues

    func testEachKindOfFaultIsReportedWithItsCountAfterAHundredOfAnotherKind() {
        let findings = findings { story in
            story.register(1)
            for post in 1...100 { story.add(.cancel, post: post, observer: 1) }
            story.deliver(900, to: [1])
            story.add(.cancel, post: 900, observer: 1)
        }
        XCTAssertEqual(findings.map(\.kind), [.unaccounted, .unaccounted])
        assertSays(findings.first, "Not accounted for, 100 times: ")
        assertSays(findings.last, "has two outcomes")
    }

    func testWhatAPostingQueueNeverPostedIsAProblemWithTheReason() {
        func story(_ rest: @escaping (inout Story) -> Void) -> (inout Story) -> Void {
            { story in
                story.register(1, on: Story.main)
                story.add(.enqueue, on: Story.worker, post: 1, target: Story.worker, style: .asap)
                rest(&story)
                story.pass(.milliseconds(1500))
            }
        }
        for (rest, reason) in [
            ({ _ in }, "the thread recorded nothing after that"),
            (
                { story in
                    story.add(.targetGone, on: Story.worker, post: 1)
                    story.add(.threadEnd, on: Story.worker, nil)
                }, "the thread ended before that."
            ),
        ] as [((inout Story) -> Void, String)] {
            XCTAssertEqual(titles(findings(story(rest))), ["problem enqueuedNeverPosted"])
            assertSays(findings(story(rest)).first, "Done was enqueued once in a PostingQueue on worker", reason)
        }
        var pool = Story.complete(story { _ in })
        for thread in pool.threads.indices { pool.threads[thread].isInPool = true }
        assertSays(Diagnosis(pool).findings.first, "belongs to a Dispatch pool, and runs no run loop")
    }

    // MARK: Threads and tokens

    func testTheRemedyForAThreadThatNeverRanItsRunLoopNamesItsNameAndNumber() {
        let gone = findings { story in
            story.add(.register, on: Story.worker, observer: 1, target: Story.worker, at: 12)
            story.hand(1, to: [1])
            story.add(.targetGone, on: Story.worker, post: 1, observer: 1, target: Story.worker)
            story.add(.threadEnd, on: Story.worker, nil)
        }
        XCTAssertEqual(titles(gone), ["note targetGone"])
        assertSays(gone.first, "worker (thread 2)", "RunLoop.current.run()")
        let block = findings { story in
            story.add(.threadEnd, on: Story.worker, nil)
            story.add(.append, nil, post: 1, target: Story.worker)
            story.add(.targetGone, nil, post: 1, target: Story.worker)
        }
        assertSays(block.first, "Some blocks were never performed: 1 block handed over", "perform(_:) throws")
        XCTAssertFalse(text(block.first).contains("token"), text(block.first))
        let waiting = findings { story in
            story.register(1)
            story.hand(1, to: [1])
        }
        assertSays(waiting.first, "Make worker (thread 2) run its run loop")
    }

    func testOneObserverThatIsCalledOnTwelveThreadsIsOneFindingAndOneThatIsCalledElsewhereTheFirstNote() {
        func foundation(_ threads: [ThreadIdentity], _ name: String? = "Done") -> [Finding] {
            findings { story in
                story.addFoundationObserver(1, name)
                for (post, thread) in threads.enumerated() {
                    story.postToFoundation(post + 1, to: [1], from: thread, name ?? "\(post % 3)")
                }
                story.add(.fork, nil)
            }
        }
        let many = foundation((2...13).map { Story.thread($0, "t\($0)") } + [Story.main])
        XCTAssertEqual(titles(many), ["problem wrongThread", "note fork"])
        assertSays(many.first, "ran on t2, t3, t4 and 9 others 12 times, and on main too")
        assertSays(
            foundation([Story.worker, Story.worker, Story.worker, Story.main], nil).first,
            "observer 1 of any name was added on main, but its handler ran on worker 3 times")
        let elsewhere = foundation([Story.worker, Story.other])
        XCTAssertEqual(titles(elsewhere), ["note wrongThread", "note fork"])
        assertSays(elsewhere.first, "'Done on main'")
    }

    func testTheRemedyForAReleasedTokenIsToKeepItAndForAnObserverThatIsNeverRemovedAWeakReference() {
        func removal(_ reason: Recording.Reason) -> Finding? {
            findings { story in
                story.register(1)
                story.add(.remove, observer: 1, reason: reason)
                story.add(.post, on: Story.worker, post: 1, count: 0)
            }.first
        }
        assertSays(removal(.released), "because its token was released", "keep the token")
        XCTAssertFalse(text(removal(.cancelled)).contains("keep the token"))
        let kept = findings { story in
            for observer in 1...2 { story.add(.register, observer: observer, target: Story.worker, at: 7) }
            story.deliver(1, to: [1, 2])
        }
        assertSays(kept.first, "[weak self]")
    }

    // MARK: Signals and forks

    func testOfACrashWithoutItsThreadTheHandlersAreCandidatesInANoteUnlessNoOtherThreadCanHaveCrashed() {
        func crash(_ running: [ThreadIdentity], others: [ThreadIdentity] = [], _ signal: UInt8 = 11) -> Finding? {
            findings(ends: .signal(signal), on: nil) { story in
                for thread in others { story.add(.log, on: thread) }
                for (number, thread) in running.enumerated() {
                    story.add(.register, on: thread, observer: number, target: thread)
                    story.add(.post, on: thread, post: number, count: 1)
                    story.add(.deliver, on: thread, post: number, observer: number)
                }
            }.first
        }
        let one = crash([Story.worker], others: [Story.main])
        XCTAssertEqual(one?.severity, .note)
        assertSays(one, "while 1 thread was in a handler", "candidate: worker in the handler of observer 0 of Done")
        assertSays(crash([Story.worker, Story.other], others: [Story.main]), "2 threads were in handlers")
        XCTAssertEqual(crash([Story.main])?.severity, .problem)
        XCTAssertEqual(crash([Story.worker], others: [Story.main], 9)?.severity, .note)
        assertSays(crash([Story.worker], others: [Story.main], 9), "was asked to end")
    }

    func testAFailedPreconditionIsNotCalledAUseAfterRelease() {
        for (signal, isRelease) in [(4, false), (5, false), (6, false), (11, true)] as [(UInt8, Bool)] {
            let findings = findings(ends: .signal(signal)) { story in
                story.register(1, on: Story.main)
                story.add(.post, post: 1, count: 1)
                story.add(.deliver, post: 1, observer: 1, target: Story.main)
            }
            XCTAssertEqual(titles(findings), ["problem endedInHandler"])
            XCTAssertEqual(text(findings.first).contains("released"), isRelease)
        }
    }

    func testAForkSaysWhichOfItsCopiesTheRecordingHas() {
        func fork(_ copies: Int) -> Finding? {
            findings { story in
                story.add(.log)
                story.add(.fork, nil)
                story.end()
                for copy in 0..<copies {
                    story.process = ProcessIdentity(id: Int32(200 + copy), name: "program")
                    story.end()
                }
                story.process = ProcessIdentity(id: 900, name: "another")
            }.first
        }
        assertSays(fork(0), "forked once; no copy is in this recording")
        assertSays(fork(1), "this recording also has 1 later process of its name")
    }

    // MARK: Cost

    /// With a pass over the posts for each observer, this would take minutes.
    func testTwentyThousandPostsAndObserversOfOneNameAreDiagnosed() {
        for sender in [nil, Self.window] {
            let findings = findings { story in
                for number in 1...20_000 {
                    story.add(.register, observer: number, target: Story.main, sender: sender)
                    story.add(.post, on: Story.worker, post: number, count: 0)
                }
            }
            XCTAssertEqual(findings.count { $0.kind == .neverDelivered }, 1)
        }
    }
}
