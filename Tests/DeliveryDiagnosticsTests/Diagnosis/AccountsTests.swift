import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

final class AccountsTests: XCTestCase {
    private func audit(_ happen: (inout RecordedStory) -> Void) -> Evidence {
        Evidence(RecordedStory.complete(happen))
    }

    /// The number of faults of each kind.
    private func faults(_ happen: (inout RecordedStory) -> Void) -> [Fault.Kind: Int] {
        audit(happen).faults(areCertain: true)
    }

    // MARK: Complete recordings

    func testEachOutcomeIsCountedForItsObserverAndName() {
        let audit = audit { story in
            story.register(1)
            story.register(2)
            story.deliver(1, to: [1])
            for (post, outcome) in [(2, DeliveryStage.coalesce), (3, .drop), (4, .cancel), (5, .targetGone)] {
                story.hand(post, to: [1])
                story.add(outcome, post: post, observer: 1, policy: outcome == .drop ? .dropNewest : nil)
            }
            story.hand(6, to: [1, 2])
            story.add(.post, post: 7, count: 1)
            story.add(.skip, post: 7, observer: 2)
        }
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

    func testADeliveryBeforeThePostReturnsNeedsNoAppendAndABlockNeedsNoPost() {
        let audit = audit { story in
            story.register(1, on: RecordedStory.main)
            story.add(.post, post: 1, count: 1)
            story.handle(1, by: 1, on: RecordedStory.main)
            story.add(.append, nil, post: 2, target: RecordedStory.worker)
            story.add(.deliver, on: RecordedStory.worker, nil, post: 2)
            story.add(.return, on: RecordedStory.worker, nil, post: 2)
            story.add(.append, nil, post: 3, target: RecordedStory.worker)
        }
        XCTAssertTrue(audit.addsUp)
        XCTAssertEqual(audit.counts(.notifications), [[.matched: 1, .delivered: 1]])
        XCTAssertEqual(audit.counts(.blocks), [[.matched: 2, .delivered: 1, .pending: 1]])
    }

    func testARetainedNotificationOfALateObserverIsNoOtherPost() {
        let audit = audit { story in
            story.deliver(1, to: [])
            for observer in 1...2 {
                story.register(observer)
                story.add(.capture, post: 1 + observer, count: 1, relatedPost: 1)
                story.add(.append, post: 1 + observer, observer: observer, target: RecordedStory.worker)
            }
            story.handle(2, by: 1)
            story.add(.coalesce, on: RecordedStory.worker, post: 3, observer: 2)
        }
        XCTAssertTrue(audit.addsUp)
        XCTAssertEqual(audit.postCount, 1)
        XCTAssertEqual(
            audit.counts(.notifications), [[.matched: 1, .delivered: 1], [.matched: 1, .coalesced: 1]])
    }

    func testInTheDocumentsTechniqueEachPostHasOneObserverWithoutAppendOrCount() {
        let audit = audit { story in
            story.add(.register)
            for post in 1...2 {
                story.add(.post, on: RecordedStory.worker, post: post)
                story.add(.capture, on: RecordedStory.worker, post: post)
            }
            story.add(.deliver, post: 1)
            story.add(.post, on: RecordedStory.worker, "Nobody's", post: 3)
        }
        XCTAssertTrue(audit.addsUp)
        XCTAssertEqual(audit.counts(.notifications), [[.matched: 2, .delivered: 1, .pending: 1]])
    }

    func testAnEnqueuedNotificationIsPostedCoalescedDequeuedWaitingOrHasLostItsThread() {
        let audit = audit { story in
            for post in 1...5 { story.add(.enqueue, post: post) }
            story.add(.post, post: 1, count: 0)
            story.add(.coalesce, post: 2, relatedPost: 1)
            story.add(.dequeue, post: 3)
            story.add(.targetGone, post: 4)
        }
        XCTAssertTrue(audit.addsUp)
        XCTAssertEqual(
            audit.counts(.queues),
            [
                [.matched: 5, .delivered: 1, .coalesced: 1, .cancelled: 1, .targetGone: 1, .pending: 1]
            ])
        XCTAssertTrue(audit.accounts(.notifications).isEmpty)
    }

    func testPostsThatNoObserverMatchedAreCountedForEachNameAndHandlersThreadsForEachObserver() {
        let audit = audit { story in
            story.register(1, on: nil)
            for (post, thread) in [(1, RecordedStory.main), (2, RecordedStory.other)] {
                story.add(.post, on: thread, post: post, count: 1)
                story.handle(post, by: 1, on: thread)
            }
            for post in 3...5 { story.add(.post, post == 5 ? "Other" : "Gone", post: post, at: 9, count: 0) }
        }
        XCTAssertEqual(audit.counts(.unobserved).map { $0[.matched] }, [2, 1])
        XCTAssertEqual(audit.accounts(.notifications).map(\.threads.count), [2])
    }

    func testPostsFromBeforeTheRecordingAreCountedSeparately() {
        let audit = audit { story in
            story.register(1)
            story.add(.deliver, on: RecordedStory.worker, observer: 1)
            story.add(.return, on: RecordedStory.worker, observer: 1)
        }
        XCTAssertTrue(audit.addsUp)
        XCTAssertEqual(audit.counts(.notifications), [[.earlier: 1]])
    }

    // MARK: Faults

    func testAMatchWithoutARecordIsLostAndItsObserverIsNamedIfItIsKnown() {
        let audit = audit { story in
            story.register(1)
            story.register(2)
            story.register(3, "Another")
            story.add(.post, post: 1, at: 12, count: 2)
            story.add(.append, post: 1, observer: 1, target: RecordedStory.worker)
            story.handle(1, by: 1)
        }
        XCTAssertEqual(audit.faults(areCertain: true), [.lost: 1])
        XCTAssertEqual(
            audit.faults.first?.text,
            "#1 of Done, posted by main at Demo/main.swift:12 (line 4), matched 2 observers, but only 1 has "
                + "records: none for observer 2")
        XCTAssertEqual(audit.accounts(.notifications)[1].counts, [.matched: 1, .lost: 1])
    }

    func testInATruncatedRecordingMissingRecordsAreUnknownNotLost() {
        func happen(_ story: inout RecordedStory) {
            story.register(1)
            story.add(.post, post: 1, count: 1)
            story.add(.append, post: 2, observer: 1, target: RecordedStory.worker)
            story.add(.threadEnd, on: RecordedStory.worker, nil)
        }
        let complete = Evidence(RecordedStory.complete(happen))
        XCTAssertEqual(complete.faults(areCertain: true), [.lost: 1, .lostAtThreadEnd: 1, .withoutPost: 1])
        XCTAssertEqual(complete.faults(areCertain: false).count, 0)
        let truncated = Evidence(RecordedStory.truncated(happen))
        XCTAssertTrue(truncated.addsUp)
        XCTAssertEqual(truncated.faults(areCertain: false), complete.faults(areCertain: true))
        let lossy = audit { story in
            happen(&story)
            story.add(.lost, nil, count: 3)
        }
        XCTAssertTrue(lossy.addsUp)
        XCTAssertEqual(lossy.faults(areCertain: false), complete.faults(areCertain: true))
    }

    func testANotificationIsLostIfItsThreadEndsLaterOtherwisePending() {
        let audit = audit { story in
            story.register(1)
            story.register(2, on: RecordedStory.other)
            story.hand(1, to: [1])
            story.hand(2, to: [2], on: RecordedStory.other)
            story.add(.threadEnd, on: RecordedStory.worker, nil)
        }
        XCTAssertEqual(audit.faults(areCertain: true), [.lostAtThreadEnd: 1])
        XCTAssertEqual(
            audit.counts(.notifications), [[.matched: 1, .lost: 1], [.matched: 1, .pending: 1]])
    }

    func testANotificationForAThreadThatHadEndedIsPendingUntilTargetGoneIsRecorded() {
        let audit = audit { story in
            story.register(1)
            story.add(.threadEnd, on: RecordedStory.worker, nil)
            story.hand(1, to: [1])
        }
        XCTAssertTrue(audit.addsUp)
        XCTAssertEqual(audit.counts(.notifications), [[.matched: 1, .pending: 1]])
    }

    func testAProcessThatEndsByASignalHasPendingNotificationsNotLostOnes() {
        var story = RecordedStory()
        story.register(1)
        story.hand(1, to: [1])
        story.end(.signal(11))
        let audit = Evidence(Recording(story.records))
        XCTAssertTrue(audit.addsUp)
        XCTAssertEqual(audit.counts(.notifications), [[.matched: 1, .pending: 1]])
    }

    func testAPostDuringWhichTheProgramEndsIsPendingAndAFinishedOneIsLost() {
        for reason in [Recording.Reason.exit, .signal(11)] { endedInPost(reason: reason) }
    }

    private func endedInPost(reason: Recording.Reason) {
        /// A handler posts. The program ends in the first of the post's two handlers, or after the post.
        func audit(_ isOver: Bool) -> Evidence {
            var story = RecordedStory()
            for observer in 1...3 { story.register(observer) }
            story.hand(1, to: [1])
            story.add(.deliver, on: RecordedStory.worker, post: 1, observer: 1, target: RecordedStory.worker)
            story.add(.post, on: RecordedStory.worker, post: 2, count: 2)
            story.add(.deliver, on: RecordedStory.worker, post: 2, observer: 2, target: RecordedStory.worker)
            if isOver {
                story.add(.return, on: RecordedStory.worker, post: 2, observer: 2)
                story.add(.return, on: RecordedStory.worker, post: 1, observer: 1)
            }
            story.end(reason)
            return Evidence(Recording(story.records))
        }
        XCTAssertTrue(audit(false).addsUp)
        XCTAssertEqual(audit(false).accounts(.notifications).reduce(0) { $0 + $1.counts[.pending] }, 1)
        XCTAssertEqual(audit(true).faults(areCertain: true), [.lost: 1])
    }

    func testANotificationIsLostIfALaterOneOfTheSameThreadWasDeliveredButNotIfItIsAnotherThreads() {
        func faults(overtakes: Bool = false, from thread: ThreadIdentity) -> [Fault.Kind: Int] {
            self.faults { story in
                story.register(1)
                story.hand(1, to: [1])
                story.hand(2, to: [1], from: thread)
                story.add(
                    .deliver, on: RecordedStory.worker, post: 2, observer: 1, target: RecordedStory.worker,
                    overtakes: overtakes)
                story.add(.return, on: RecordedStory.worker, post: 2, observer: 1)
            }
        }
        XCTAssertEqual(faults(from: RecordedStory.main), [.lost: 1])
        XCTAssertTrue(faults(from: RecordedStory.other).isEmpty)
        XCTAssertTrue(faults(overtakes: true, from: RecordedStory.main).isEmpty)
    }

    func testTwoOutcomesOfAPostAndAnOutcomeAfterASkipAreFaultsEvenInATruncatedRecording() {
        func happen(_ story: inout RecordedStory) {
            story.register(1)
            story.deliver(1, to: [1])
            story.add(.cancel, post: 1, observer: 1)
            story.add(.post, post: 2, count: 1)
            story.add(.skip, post: 2, observer: 1)
            story.add(.cancel, post: 2, observer: 1)
            story.add(.enqueue, post: 3)
            story.add(.dequeue, post: 3)
            story.add(.coalesce, post: 3)
        }
        XCTAssertEqual(
            Evidence(RecordedStory.complete(happen)).faults(areCertain: true), [.twoOutcomes: 2, .outcomeAfterSkip: 1])
        XCTAssertEqual(
            Evidence(RecordedStory.truncated(happen)).faults(areCertain: true), [.twoOutcomes: 2, .outcomeAfterSkip: 1])
        XCTAssertEqual(
            Evidence(RecordedStory.complete(happen)).faults.first?.text,
            "#1 of Done, posted by main at Demo/main.swift:1001 (line 2), has two outcomes for observer 1: "
                + "deliver on worker, line 4, then cancel on main, line 6")
    }

    func testAnOutcomeWithoutAPostTooManyObserversAndAnOutcomeOfNothingEnqueuedAreFaults() {
        XCTAssertEqual(
            faults { story in
                story.register(1)
                story.add(.append, post: 1, observer: 1, target: RecordedStory.worker)
                story.handle(1, by: 1)
            }, [.withoutPost: 1])
        XCTAssertEqual(
            faults { story in
                story.register(1)
                story.add(.post, post: 1, count: 0)
                story.add(.append, post: 1, observer: 1, target: RecordedStory.worker)
                story.handle(1, by: 1)
            }, [.tooMany: 1])
        XCTAssertEqual(faults { $0.add(.dequeue, post: 1) }, [.withoutPost: 1])
    }

    func testADeliveryOnAnotherThreadWithoutAnAppendAndAReturnWithoutACallAreFaults() {
        XCTAssertEqual(
            faults { story in
                story.register(1)
                story.add(.post, post: 1, count: 1)
                story.handle(1, by: 1)
            }, [.notHandedOver: 1])
        XCTAssertEqual(faults { $0.add(.return, post: 1, observer: 1) }, [.returnWithoutDeliver: 1])
    }

    func testASelectionOfEverythingHidesNothing() throws {
        var recording = RecordedStory.complete { story in
            story.register(1, on: RecordedStory.main)
            story.add(.post, post: 1, count: 0)
            story.handle(1, by: 1, on: RecordedStory.main)
        }
        recording.problemCount = 1
        let (index, selection) = (RecordingIndex(recording), try RecordingSelection(of: recording))
        XCTAssertEqual(Evidence(index, DiagnosisLimits(), selection).faults(areCertain: true), [.tooMany: 1])
        let diagnosis = Diagnosis(index, selection: selection)
        XCTAssertEqual(diagnosis.findings.map(\.kind), [.unaccounted, .incomplete])
    }

    func testEqualNumbersOfTwoProcessesAreKeptApart() {
        var story = RecordedStory()
        story.register(1)
        story.deliver(1, to: [1])
        story.end()
        story.process = ProcessIdentity(id: 200, name: "program")
        story.register(1)
        story.hand(1, to: [1])
        story.end()
        let audit = Evidence(Recording(story.records))
        XCTAssertTrue(audit.addsUp)
        XCTAssertEqual(
            audit.counts(.notifications), [[.matched: 1, .delivered: 1], [.matched: 1, .pending: 1]])
    }
}
