import DeliveryRecording
import RecordingTesting
import Testing
import ThreadedNotifications

@testable import DeliveryDiagnostics

/// Findings about threads, waits and ends.
extension DiagnosisTests {
    @Test("a thread that stopped draining while others continued for longer than the limit is a problem")
    func stalled() {
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
            in: story(.seconds(2)), notIn: story(.milliseconds(900)))
        expect(
            .stalled, evidence: [5, 7], limits: DiagnosisLimits(stall: .milliseconds(100)),
            in: story(.milliseconds(200)), notIn: story(.milliseconds(50)))
    }

    @Test("a thread that never drained is reported once, not for each of its observers")
    func neverDrained() {
        func story(_ duration: Duration) -> Recording {
            Story.complete { story in
                for observer in 1...3 {
                    story.register(observer)
                    story.hand(observer, to: [observer])
                }
                story.pass(duration)
            }
        }
        #expect(Diagnosis(story(.seconds(2))).findings.map(\.kind) == [.stalled])
        let kinds = Diagnosis(story(.zero)).findings.map(\.kind)
        #expect(kinds == [.neverDelivered, .neverDelivered, .neverDelivered])
    }

    @Test("the end of the program is not counted as activity of its thread")
    func endedByTheStalled() {
        let findings = Diagnosis(
            Story.complete { story in
                story.register(1, on: Story.main)
                story.hand(1, to: [1], on: Story.main, from: Story.worker)
                story.pass(.seconds(2))
            }
        ).findings
        #expect(findings.map(\.kind) == [.stalled])
        #expect(findings.first?.problem.hasPrefix("main stopped draining: 1 notification or block waits") == true)
    }

    @Test("a thread that continues and ignores its pending notifications is a problem")
    func modeNotRun() {
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

    @Test("a handler that never returned is named, with the number of notifications waiting for its thread")
    func neverReturned() {
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

    @Test("a refused wait is a problem")
    func refusedWait() {
        func story(_ stage: DeliveryStage) -> (inout Story) -> Void {
            { $0.add(stage, nil, message: "{number = 2, name = worker} waits for main", at: 4) }
        }
        expect(
            .refusedWait, evidence: [1],
            says: ["because it would have deadlocked", "{number = 2, name = worker} waits for main"],
            in: story(.refuseWait), notIn: story(.log))
    }

    @Test("two threads that wait for each other at different times are a note")
    func waitsBothWays() {
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

    @Test("drops by an overflow policy are a note with the policy")
    func dropped() {
        func story(_ fate: DeliveryStage) -> (inout Story) -> Void {
            { story in
                story.register(1)
                story.deliver(1, to: [1])
                story.hand(2, to: [1])
                story.add(fate, post: 2, observer: 1, count: 2, policy: .dropNewest)
            }
        }
        expect(
            .dropped, .note, evidence: [1, 8],
            says: ["policy (dropNewest(2)) of observer 1 of Done dropped 1 of 2"], in: story(.drop),
            notIn: story(.cancel))
    }

    @Test("a post for an ended thread is a problem, a pending notification when the thread ends is a note")
    func targetGone() {
        func story(endFirst: Bool, _ fate: DeliveryStage) -> (inout Story) -> Void {
            { story in
                story.register(1)
                if endFirst { story.add(.threadEnd, on: Story.worker, nil) }
                story.hand(1, to: [1])
                story.add(fate, on: endFirst ? Story.main : Story.worker, post: 1, observer: 1)
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

    @Test("a block for a thread that was never started is a problem of its own")
    func neverStarted() {
        func story(_ reason: DeliveryRecord.Reason?) -> (inout Story) -> Void {
            { story in
                story.add(.append, nil, post: 1, target: Story.worker)
                story.add(.targetGone, nil, post: 1, target: Story.worker, reason: reason)
            }
        }
        expect(
            .neverStarted, evidence: [2], says: ["1 block was not accepted because worker was never started"],
            in: story(.notStarted), notIn: { $0.add(.log, nil) })
        #expect(Diagnosis(Story.complete(story(nil))).findings.map(\.kind) == [.targetGone])
    }

    @Test("a main thread that ended has causes and remedies for programs and for tests")
    func mainEnded() {
        let findings = Diagnosis(
            Story.complete { story in
                story.register(1, on: Story.main)
                story.add(.threadEnd, nil)
                story.hand(1, to: [1], on: Story.main, from: Story.worker)
                story.add(.targetGone, on: Story.worker, post: 1, observer: 1)
            }
        ).findings
        #expect(findings.map(\.kind) == [.targetGone])
        for words in ["async", "dispatchMain()", "Swift Testing", "RunLoopThread"] {
            #expect(findings.first?.remedy.contains(words) == true)
        }
    }

    @Test("handlers on several threads are a note, and a problem if main is one of them or two run at the same time")
    func severalThreads() {
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
            .severalThreads, .note, evidence: [1, 3, 6],
            says: ["Handlers of observer 1 of Done ran on 2 threads (worker and other) because"],
            in: story(Story.other),
            notIn: story(Story.worker))
        expect(.severalThreads, evidence: [1, 3, 6], in: story(Story.main), notIn: story(Story.worker))
        expect(
            .severalThreads, evidence: [1, 3, 5], says: ["two at the same time"], in: story(Story.other, overlap: true),
            notIn: story(Story.worker, overlap: true))
    }

    @Test("a wait that lasted for its timeout is a problem")
    func waitTimedOut() {
        func story(_ reason: DeliveryRecord.Reason?) -> (inout Story) -> Void {
            { story in
                story.add(.wait, nil, message: "worker to handle Done", at: 7)
                story.add(.waitEnd, nil, reason: reason, after: .seconds(2))
            }
        }
        expect(
            .waitTimedOut, evidence: [1, 2],
            says: ["main waited for worker to handle Done until the timeout, after 2 s"],
            in: story(.timedOut), notIn: story(nil))
    }

    @Test("accepted findings are left out, by kind or by kind and name, and counted")
    func accepted() throws {
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
            #expect(diagnosis.findings.map(\.kind) == kinds)
            #expect(diagnosis.acceptedCount == 3 - kinds.count)
        }
        let error = #expect(throws: LogError.self) { try AcceptedFindings(text: "fork\ndroped", source: "accepted") }
        #expect(
            error?.description.hasPrefix("accepted:2: \"droped\" is not a kind of finding. Did you mean dropped?")
                == true)
        #expect(throws: LogError.self) { try AcceptedFindings(path: "/nonexistent") }
        #expect(
            Diagnosis(recording).totals == "2 posted, 2 dropped; no faults")
    }

    @Test("a truncated recording, lost records and a fork are notes")
    func recording() {
        expect(
            .recordingTruncated, .note, evidence: [1], in: Story.truncated { $0.register(1) },
            notIn: Story.complete { $0.register(1) }
        )
        expect(
            .lostRecords, .note, evidence: [1], says: ["7 records were lost"],
            in: { $0.add(.lost, nil, count: 7) }, notIn: { $0.add(.log, nil) })
        expect(.fork, .note, evidence: [1], in: { $0.add(.fork, nil) }, notIn: { $0.add(.log, nil) })
    }

    @Test("the end by a signal while a handler ran is reported")
    func endedInHandler() {
        func story(_ reason: DeliveryRecord.Reason, isBack: Bool = false) -> Recording {
            var story = Story()
            story.register(1, on: Story.main)
            story.add(.post, post: 1, count: 1)
            story.add(.deliver, post: 1, observer: 1, target: Story.main)
            if isBack { story.add(.return, post: 1, observer: 1) }
            story.end(reason)
            return Recording(story.records)
        }
        expect(
            .endedInHandler, evidence: [1, 3, 4],
            says: ["ended by signal 11 while main was in the handler of observer 1 of Done"], in: story(.signal(11)),
            notIn: story(.exit))
        #expect(Diagnosis(story(.signal(11), isBack: true)).findings.isEmpty)
    }

    @Test("faults of the audit are findings")
    func unaccounted() {
        expect(
            .unaccounted, evidence: [2, 6], says: ["Two outcomes of one post for one observer, once: #1 of Done"],
            in: { story in
                story.register(1)
                story.deliver(1, to: [1])
                story.add(.cancel, post: 1, observer: 1)
            },
            notIn: { story in
                story.register(1)
                story.deliver(1, to: [1])
            })
    }

    @Test("the most severe finding is first, and within a kind the most frequent")
    func order() {
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
        #expect(findings.map(\.kind) == [.refusedWait, .dropped, .dropped, .dropped, .fork])
        #expect(findings.map(\.weight) == [1, 3, 2, 1, 5])
    }
}
