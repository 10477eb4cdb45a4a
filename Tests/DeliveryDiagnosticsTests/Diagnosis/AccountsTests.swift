import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class AccountsTests: XCTestCase {
    private func audit(_ script: String, ends: String = "end - !exit") -> Evidence {
        Evidence(RecordedStory("\(script); \(ends)").recording)
    }

    /// The number of faults of each kind.
    private func faults(_ script: String) -> [Fault.Kind: Int] { audit(script).faults(areCertain: true) }

    // MARK: Complete recordings

    func testEachOutcomeIsCountedForItsObserverAndName() {
        let audit = audit(
            """
            add o1; add o2; give #1 o1; hand #2 o1; coalesce #2 o1; hand #3 o1; drop #3 o1 %dropNewest
            hand #4 o1; cancel #4 o1; hand #5 o1; targetGone #5 o1; hand #6 o1,2; post #7 n1; skip #7 o2
            """)
        XCTAssertTrue(audit.addsUp)
        XCTAssertEqual(audit.faults(areCertain: false).count, 0)
        XCTAssertEqual(
            audit.counts(.notifications),
            [
                [.matched: 6, .delivered: 1, .coalesced: 1, .dropped: 1, .cancelled: 1, .targetGone: 1, .pending: 1],
                [.matched: 1, .pending: 1, .skipped: 1],
            ])
        XCTAssertEqual(audit.accounts(.notifications)[0].policies, ["dropNewest"])
    }

    func testRecordsAddUpWithoutEveryStage() {
        for (script, notifications) in [
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
            XCTAssertTrue(audit(script).addsUp, script)
            XCTAssertEqual(audit(script).counts(.notifications), notifications, script)
        }
        let blocks = audit("append - #2 >worker; worker deliver - #2; worker return - #2; append - #3 >worker")
        XCTAssertEqual(blocks.counts(.blocks), [[.matched: 2, .delivered: 1, .pending: 1]])
        let killed = audit("add o1; hand #1 o1", ends: "end - !signal11")
        XCTAssertTrue(killed.addsUp)
        XCTAssertEqual(killed.counts(.notifications), [[.matched: 1, .pending: 1]])
    }

    func testAnEnqueuedNotificationIsPostedCoalescedDequeuedWaitingOrHasLostItsThread() {
        let audit = audit("1-5: enqueue #*; post #1 n0; coalesce #2 ~1; dequeue #3; targetGone #4")
        XCTAssertTrue(audit.addsUp)
        XCTAssertEqual(
            audit.counts(.queues),
            [[.matched: 5, .delivered: 1, .coalesced: 1, .cancelled: 1, .targetGone: 1, .pending: 1]])
        XCTAssertTrue(audit.accounts(.notifications).isEmpty)
    }

    func testPostsThatNoObserverMatchedAreCountedForEachNameAndHandlersThreadsForEachObserver() {
        let audit = audit(
            """
            add o1 %poster; post #1 n1; main handle #1 o1; other post #2 n1; other handle #2 o1
            3-4: post #* Gone n0; post #5 Other n0
            """)
        XCTAssertEqual(audit.counts(.unobserved).map { $0[.matched] }, [2, 1])
        XCTAssertEqual(audit.accounts(.notifications).map(\.threads.count), [2])
    }

    func testEqualNumbersOfTwoProcessesAreKeptApart() {
        var story = RecordedStory("add o1; give #1 o1; end - !exit")
        story.process = ProcessIdentity(id: 200, name: "program")
        story.register(1)
        story.hand(1, to: [1])
        story.end()
        let audit = Evidence(Recording(story.records))
        XCTAssertTrue(audit.addsUp)
        XCTAssertEqual(
            audit.counts(.notifications), [[.matched: 1, .delivered: 1], [.matched: 1, .pending: 1]])
    }

    // MARK: Faults

    func testEachKindOfFault() {
        let late = "worker deliver #2 o1 >worker"
        for (script, expected) in [
            ("add o1; other register o2 >other; hand #1 o1; worker threadEnd -", [.lostAtThreadEnd: 1]),
            // A later notification of the same thread was delivered, and did not overtake it.
            ("add o1; 1-2: hand #* o1; \(late); worker return #2 o1", [.lost: 1]),
            ("add o1; hand #1 o1; other hand #2 o1; \(late); worker return #2 o1", [:]),
            ("add o1; 1-2: hand #* o1; \(late) %overtakes; worker return #2 o1", [:]),
            ("add o1; append #1 o1 >worker; worker handle #1 o1", [.withoutPost: 1]),
            ("add o1; post #1 n0; append #1 o1 >worker; worker handle #1 o1", [.tooMany: 1]),
            ("dequeue #1", [.withoutPost: 1]),
            ("add o1; post #1 n1; worker handle #1 o1", [.notHandedOver: 1]),
            ("return #1 o1", [.returnWithoutDeliver: 1]),
        ] as [(String, [Fault.Kind: Int])] { XCTAssertEqual(faults(script), expected, script) }
    }

    func testAMatchWithoutARecordIsLostAndItsObserverIsNamedIfItIsKnown() {
        let audit = audit("add o1; add o2; add o3 Another; post #1 @12 n2; append #1 o1 >worker; worker handle #1 o1")
        XCTAssertEqual(audit.faults(areCertain: true), [.lost: 1])
        XCTAssertEqual(
            audit.faults.first?.text,
            "#1 of Done, posted by main at Demo/main.swift:12 (line 4), matched 2 observers, but only 1 has "
                + "records: none for observer 2")
        XCTAssertEqual(audit.accounts(.notifications)[1].counts, [.matched: 1, .lost: 1])
    }

    func testInATruncatedRecordingMissingRecordsAreUnknownNotLost() {
        let script = "add o1; post #1 n1; append #2 o1 >worker; worker threadEnd -"
        let certain: [Fault.Kind: Int] = [.lost: 1, .lostAtThreadEnd: 1, .withoutPost: 1]
        XCTAssertEqual(faults(script), certain)
        for truncated in [audit(script, ends: ""), audit("\(script); lost - n3")] {
            XCTAssertTrue(truncated.addsUp)
            XCTAssertEqual(truncated.faults(areCertain: false), certain)
        }
    }

    func testAPostDuringWhichTheProgramEndsIsPendingAndAFinishedOneIsLost() {
        for reason in ["exit", "signal11"] {
            let inPost = """
                1-3: add o*; hand #1 o1; worker deliver #1 o1 >worker
                worker post #2 n2; worker deliver #2 o2 >worker
                """
            let ended = audit(inPost, ends: "end - !\(reason)")
            XCTAssertTrue(ended.addsUp)
            XCTAssertEqual(ended.accounts(.notifications).reduce(0) { $0 + $1.counts[.pending] }, 1)
            let over = audit("\(inPost); worker return #2 o2; worker return #1 o1", ends: "end - !\(reason)")
            XCTAssertEqual(over.faults(areCertain: true), [.lost: 1])
        }
    }

    func testTwoOutcomesOfAPostAndAnOutcomeAfterASkipAreFaultsEvenInATruncatedRecording() {
        let script = """
            add o1; give #1 o1; cancel #1 o1; post #2 n1; skip #2 o1; cancel #2 o1
            enqueue #3; dequeue #3; coalesce #3
            """
        for audit in [audit(script), audit(script, ends: "")] {
            XCTAssertEqual(audit.faults(areCertain: true), [.twoOutcomes: 2, .outcomeAfterSkip: 1])
        }
        XCTAssertEqual(
            audit(script).faults.first?.text,
            "#1 of Done, posted by main at Demo/main.swift:1001 (line 2), has two outcomes for observer 1: "
                + "deliver on worker, line 4, then cancel on main, line 6")
    }

    func testASelectionOfEverythingHidesNothing() throws {
        var recording = RecordedStory("add o1 >main; post #1 n0; main handle #1 o1; end - !exit").recording
        recording.problemCount = 1
        let (index, selection) = (RecordingIndex(recording), try RecordingSelection(of: recording))
        XCTAssertEqual(Evidence(index, DiagnosisLimits(), selection).faults(areCertain: true), [.tooMany: 1])
        XCTAssertEqual(Diagnosis(index, selection: selection).findings.map(\.kind), [.unaccounted, .incomplete])
    }
}
