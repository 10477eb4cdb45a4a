import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryRecording

private typealias Story = RecordedStory

final class RecordingIndexTests: XCTestCase {
    private func index(_ happen: (inout RecordedStory) -> Void) -> RecordingIndex {
        var story = RecordedStory()
        happen(&story)
        return RecordingIndex(story.recording)
    }

    func testADeliveryHasItsPostItsAppendItsOutcomeAndTheCallOfItsHandler() {
        let index = index {
            $0.add(.post, on: Story.worker, post: 1, count: 2)
            $0.add(.append, on: Story.worker, post: 1, observer: 1, target: Story.main)
            $0.add(.append, on: Story.worker, post: 1, observer: 2, target: Story.main)
            $0.add(.deliver, post: 1, observer: 2)
            $0.add(.log, nil)
            $0.add(.return, post: 1, observer: 2)
            $0.add(.drop, on: Story.worker, post: 1, observer: 2)
            $0.add(.skip, post: 1, observer: 3)
        }
        XCTAssertTrue(index.posts[0].posted == 0 && index.posts[0].deliveryCount == 3)
        XCTAssertEqual(Array(index.deliveries(ofPost: 0)), [0, 1, 2])
        XCTAssertEqual(index.deliveries.map(\.append), [1, 2, -1])
        XCTAssertEqual(index.deliveries.map(\.outcome), [-1, 3, -1])
        XCTAssertEqual(index.deliveries.map(\.secondOutcome), [-1, 6, -1])
        XCTAssertEqual(index.deliveries.map(\.isPending), [true, false, false])
        XCTAssertEqual(index.pendingCount(ofPost: 0), 1)
        XCTAssertEqual(index.deliveryOfEntry, [-1, 0, 1, 1, -1, -1, 1, 2])
        XCTAssertEqual(index.spanOfEntry, [-1, -1, -1, 0, -1, 0, -1, -1])
        XCTAssertEqual(index.spanAroundEntry, [-1, -1, -1, -1, 0, 0, -1, -1])
        XCTAssertTrue(index.spans[0].delivery == 1 && index.spans[0].ending == .returned)
        XCTAssertTrue((index.partner(of: 3), index.partner(of: 5)) == (5, 3))
        XCTAssertEqual(index.mailbox(of: index.deliveries[0]), index.recording.entries[1].target)
        XCTAssertEqual(index.duration(of: index.spans[0]), 2_000_000)
    }

    func testAReturnBeforeItsCallIsStrayAndEndsNoLaterCall() {
        let index = index {
            $0.add(.return, post: 1, observer: 1)
            $0.add(.deliver, post: 1, observer: 1)
        }
        XCTAssertEqual(index.strayReturns, [0])
        XCTAssertEqual(index.spans.map(\.ending), [.open])
    }

    func testAHandlerEndsWithTheOneAroundItAndAWaitWithTheInnermostWaitEndOfItsThread() {
        let index = index {
            $0.add(.wait, nil)
            $0.add(.deliver, post: 1, observer: 1)
            $0.add(.waitEnd, on: Story.worker, nil)
            $0.add(.deliver, post: 2, observer: 1)
            $0.add(.return, post: 1, observer: 1)
            $0.add(.waitEnd, nil)
            $0.add(.return, post: 2, observer: 1)
            $0.add(.deliver, nil, post: 3)
            $0.add(.threadEnd, nil)
            $0.add(.deliver, on: Story.worker, nil, post: 4)
            $0.end()
        }
        XCTAssertEqual(index.spans.map(\.ending), [.returned, .returned, .abandoned, .abandoned, .open])
        XCTAssertEqual(index.spans.map(\.end), [5, 4, 4, 8, 10])
        XCTAssertEqual(index.spans.map(\.depth), [0, 1, 2, 0, 0])
        XCTAssertEqual(index.spans.map(\.outer), [-1, 0, 1, -1, -1])
        XCTAssertTrue(index.handlerAround(1) == -1 && index.handlerAround(3) == 1 && index.depth(of: 4) == 3)
        XCTAssertEqual(index.strayReturns, [6])
    }

    func testTheSameNumbersInTwoProcessesAreDifferentPosts() {
        let index = index {
            $0.add(.append, on: Story.worker, post: 1, observer: 1, target: Story.main)
            $0.process = ProcessIdentity(id: 2, name: "other")
            $0.add(.deliver, post: 1, observer: 1)
        }
        XCTAssertEqual(index.deliveries.count, 2)
    }

    func testABlockHasOneOutcomeAndItsAppendIsItsOrigin() {
        let index = index {
            $0.add(.append, on: Story.worker, nil, post: 1, target: Story.main)
            $0.add(.targetGone, nil, post: 1)
            $0.add(.cancel, nil, post: 1)
        }
        XCTAssertEqual(index.deliveries.map(\.kind), [.block])
        XCTAssertTrue(index.deliveries[0].outcome == 1 && index.deliveries[0].secondOutcome == 2)
        XCTAssertTrue(index.origin(ofPost: 0) == 0 && index.name(ofPost: 0) == -1)
    }

    func testObserversOfTheDocumentsTechniqueHaveAsManyDeliveriesAsCapturesAndWaitForTheThreadThatAddedThem() {
        let index = index {
            $0.add(.register)
            $0.add(.post, on: Story.worker, post: 1)
            for _ in 1...3 { $0.add(.capture, on: Story.worker, post: 1) }
            for _ in 1...2 { $0.add(.deliver, post: 1) }
        }
        XCTAssertEqual(index.deliveries.map(\.append), [2, 3, 4])
        XCTAssertEqual(index.deliveries.filter(\.isPending).count, 1)
        XCTAssertEqual(index.deliveries.map { index.mailbox(of: $0) }, [0, 0, 0])
        XCTAssertEqual(index.spans.map(\.ending), [.notRecorded, .notRecorded])
        XCTAssertEqual(index.origin(ofPost: 0), 1)
        XCTAssertEqual(index.depth(of: 6), 0)
    }

    func testHandlersOfTheDocumentsTechniqueNestIfTheyRecordThatTheyReturn() {
        let index = index {
            $0.add(.register)
            $0.add(.post, post: 1)
            $0.add(.deliver, post: 1)
            $0.add(.post, post: 2)
            $0.add(.deliver, post: 2)
            $0.add(.return, post: 2)
            $0.add(.return, post: 1)
        }
        XCTAssertEqual(index.spans.map(\.ending), [.returned, .returned])
        XCTAssertEqual(index.spans.map(\.depth), [0, 1])
        XCTAssertEqual(index.posts.map(\.cause), [-1, 0])
    }

    func testACaptureFromAFoundationCenterIsAPostOfItsOwnCausedByWhatEnqueuedIt() {
        let index = index {
            $0.add(.deliver, on: Story.worker, "Other", post: 3, observer: 9)
            $0.add(.enqueue, on: Story.worker, post: 1)
            $0.add(.return, on: Story.worker, "Other", post: 3, observer: 9)
            $0.add(.post, on: Story.worker, post: 1)
            $0.add(.capture, on: Story.worker, post: 2, count: 1, relatedPost: 1)
            $0.add(.append, on: Story.worker, post: 2, observer: 1, target: Story.main)
        }
        let (queued, captured) = (index.posts[1], index.posts[2])
        XCTAssertTrue(queued.enqueued == 1 && queued.queueOutcome == 3 && queued.cause == 0)
        XCTAssertTrue(captured.posted == 4 && captured.deliveryCount == 1 && captured.cause == 0)
    }

    func testTheCauseOfAnEnqueuedNotificationIsWhatEnqueuedItNotTheHandlerDuringWhichItIsPosted() {
        let index = index {
            $0.add(.post, post: 1, count: 1)
            $0.add(.enqueue, post: 2, target: Story.main)
            $0.add(.deliver, post: 1, observer: 1, target: Story.main)
            $0.add(.post, post: 2, count: 0)
            $0.add(.return, post: 1, observer: 1)
        }
        XCTAssertEqual(index.posts.map(\.cause), [-1, -1])
    }

    func testANotificationLeavesItsPostingQueueOnceAndAStrayOutcomeIsKeptApart() {
        let index = index {
            $0.add(.enqueue, post: 1, target: Story.main)
            $0.add(.enqueue, post: 2, target: Story.main)
            $0.add(.dequeue, post: 2)
            $0.add(.post, post: 1)
            $0.add(.coalesce, post: 1)
            $0.add(.dequeue, post: 3)
        }
        XCTAssertEqual(index.posts.map(\.queueOutcome), [3, 2, -1])
        XCTAssertEqual(index.posts.map(\.secondQueueOutcome), [4, -1, -1])
        XCTAssertEqual(index.strayQueueOutcomes, [5])
    }

    func testAPostIsUnfinishedIfTheRecordingEndsWhileItIsMade() {
        func isUnfinished(_ reason: Recording.Reason) -> Bool {
            index {
                $0.add(.post, post: 1, count: 2)
                $0.end(reason)
            }.posts[0].isUnfinished
        }
        XCTAssertTrue(isUnfinished(.signal(11)))
        XCTAssertFalse(isUnfinished(.exit))
    }

    func testObserversThreadsAndProcessesHaveTheirFirstLastAndEndRecords() {
        let index = index {
            $0.add(.register, observer: 1, target: Story.worker)
            $0.add(.deliver, on: Story.worker, observer: 1)
            $0.add(.remove, observer: 1)
            $0.add(.threadEnd, on: Story.worker, nil)
            $0.end()
        }
        let observer = index.observers[0]
        XCTAssertTrue((observer.registered, observer.removed, observer.earlier) == (0, 2, 1))
        XCTAssertTrue(index.threads.map(\.first) == [0, 0] && index.threads.map(\.last) == [2, 3])
        XCTAssertEqual(index.threads.map(\.end), [-1, 3])
        XCTAssertTrue(index.processes.map(\.last) == [4] && index.processes.map(\.end) == [4])
    }

    func testTheLinksOfRandomRecordsGoBothWays() {
        for seed in 1...200 as ClosedRange<UInt64> {
            let index = RecordingIndex(Recording(RandomRecords.records(Int(seed), seed: seed)))
            for (number, delivery) in index.deliveries.enumerated() {
                for entry in [delivery.append, delivery.outcome, delivery.secondOutcome, delivery.skip] where entry >= 0
                {
                    XCTAssertEqual(Int(index.deliveryOfEntry[Int(entry)]), number)
                }
                XCTAssertTrue(index.deliveries(ofPost: delivery.post).contains(number))
            }
            for (number, span) in index.spans.enumerated() {
                XCTAssertEqual(Int(index.spanOfEntry[Int(span.begin)]), number)
                XCTAssertTrue(span.ending != .returned || index.spanOfEntry[Int(span.end)] == number)
                XCTAssertLessThan(Int(span.outer), number)
                XCTAssertEqual(span.depth, span.outer < 0 ? 0 : index.spans[Int(span.outer)].depth + 1)
            }
            for entry in index.recording.entries.indices where index.spanAroundEntry[entry] >= 0 {
                let span = index.spans[Int(index.spanAroundEntry[entry])]
                XCTAssertEqual(span.thread, index.recording.entries[entry].thread)
                XCTAssertTrue(Int(span.begin) < entry && (span.end < 0 || Int(span.end) >= entry))
            }
        }
    }
}
