import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryRecording

final class RecordingIndexTests: XCTestCase {
    private func index(_ script: String) -> RecordingIndex { RecordingIndex(RecordedStory(script).recording) }

    func testADeliveryHasItsPostItsAppendItsOutcomeAndTheCallOfItsHandler() {
        let index = index(
            """
            worker post #1 n2; worker append #1 o1 >main; worker append #1 o2 >main; deliver #1 o2; log -; return #1 o2
            worker drop #1 o2; skip #1 o3
            """)
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
        XCTAssertTrue((index.spans[0].begin, index.spans[0].end) == (3, 5))
        XCTAssertEqual(index.mailbox(of: index.deliveries[0]), index.recording.entries[1].target)
        XCTAssertEqual(index.duration(of: index.spans[0]), 2_000_000)
    }

    func testAHandlerEndsWithTheOneAroundItAndAWaitWithTheInnermostWaitEndOfItsThread() {
        let index = index(
            """
            wait -; deliver #1 o1; worker waitEnd -; deliver #2 o1; return #1 o1; waitEnd -; return #2 o1; deliver - #3
            threadEnd -; worker deliver - #4; end !exit
            """)
        XCTAssertEqual(index.spans.map(\.ending), [.returned, .returned, .abandoned, .abandoned, .open])
        XCTAssertEqual(index.spans.map(\.end), [5, 4, 4, 8, 10])
        XCTAssertEqual(index.spans.map(\.depth), [0, 1, 2, 0, 0])
        XCTAssertEqual(index.spans.map(\.outer), [-1, 0, 1, -1, -1])
        XCTAssertTrue(index.handlerAround(1) == -1 && index.handlerAround(3) == 1 && index.depth(of: 4) == 3)
        XCTAssertEqual(index.strayReturns, [6])
        let stray = self.index("return #1 o1; deliver #1 o1")
        XCTAssertEqual(stray.strayReturns, [0])
        XCTAssertEqual(stray.spans.map(\.ending), [.open])
    }

    func testTheCauseOfAPostIsTheHandlerThatEnqueuedItAlsoIfAFoundationCenterPostsItAgain() {
        let index = index(
            """
            worker deliver Other #3 o9; worker enqueue #1; worker return Other #3 o9; worker post #1
            worker capture #2 n1 ~1; worker append #2 o1 >main
            """)
        let (queued, captured) = (index.posts[1], index.posts[2])
        XCTAssertTrue(queued.enqueued == 1 && queued.queueOutcome == 3 && queued.cause == 0)
        XCTAssertTrue(captured.posted == 4 && captured.deliveryCount == 1 && captured.cause == 0)
        let later = self.index("post #1 n1; enqueue #2 >main; deliver #1 o1 >main; post #2 n0; return #1 o1")
        XCTAssertEqual(later.posts.map(\.cause), [-1, -1], "not the handler during which the queue posts it")
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
