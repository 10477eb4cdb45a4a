import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// The reports, counters and events of a queue.
final class PostingAccountTests: XCTestCase {
    func testReportsAndCountersHaveDescriptions() {
        let queue = PostingQueue(center: PostingTimeline())
        XCTAssertEqual("\(queue.counters)", "none")
        XCTAssertEqual("\(queue.put("a", .asap))", "waiting")
        queue.put("a", .asap)
        XCTAssertEqual("\(queue.put("a", .asap, on: .onName, keeping: .earliest))", "coalesced, 1 removed")
        XCTAssertEqual("\(queue.put("a", .now, on: .onName))", "posted, 1 removed")
        queue.put("a", .asap)
        XCTAssertEqual("\(queue.counters)", "5: delivered 1, waiting 1, coalesced 3")
        XCTAssertEqual(queue.dequeue("a", on: .onName), 1)
    }

    func testEachStageIsTracedWithTheNumberOfItsPost() throws {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        let here = ThreadIdentity.current
        let events = try tracing {
            queue.put("first", .asap)
            queue.put("second", .asap)
            queue.put("third", .whenIdle)
            queue.put("first", .asap, on: .onName)
            queue.put("second", .asap, on: .onName, keeping: .earliest)
            XCTAssertEqual(queue.dequeue("third", on: .onName), 1)
            queue.put("now", .now)
            RunLoop.pollCurrent()
        }
        let stages = events.filter { $0.name != nil }
        let first = stages.first?.post ?? 0
        XCTAssertGreaterThan(first, 0)
        XCTAssertEqual(
            stages.map { "\($0.stage) \($0.name?.rawValue ?? "") \($0.post - first + 1)" },
            [
                "enqueue first 1", "enqueue second 2", "enqueue third 3", "enqueue first 4", "coalesce first 1",
                "enqueue second 5", "coalesce second 5", "dequeue third 3", "enqueue now 6", "post now 6",
                "post second 2", "post first 4",
            ])
        XCTAssertTrue(stages.allSatisfy { $0.thread == here && $0.observer == 0 })
        XCTAssertTrue(stages.filter { $0.stage == .enqueue }.allSatisfy { $0.target == here })
        XCTAssertEqual(events.filter { $0.stage == .signal }.count, 0, "its own thread is not signalled")
    }

    func testEnqueuingOnAnotherThreadIsTracedThereAndSignalsTheQueuesThreadOnce() throws {
        let worker = try RunLoopThread.started("worker")
        let timeline = PostingTimeline()
        let resume = try worker.keptBusy()
        let queue = PostingQueue(center: timeline, on: worker)
        var events = try tracing { for number in 0..<3 { queue.put("\(number)", .asap) } }
        XCTAssertEqual(events.count { $0.stage == .signal }, 1)
        events += try tracing {
            resume.signal()
            try worker.stopAndWait()
        }
        let own = events.filter { timeline.has($0.name?.rawValue ?? "") }
        XCTAssertEqual(
            own.map { "\($0.stage) \($0.thread.name ?? "")" },
            Array(repeating: "enqueue main", count: 3) + Array(repeating: "post worker", count: 3))
        XCTAssertEqual(own.prefix(3).map(\.post), own.suffix(3).map(\.post))
        XCTAssertTrue(own.prefix(3).allSatisfy { $0.target == worker.identity })
    }

    func testAThreadedCentersDeliveriesHaveTheNumberOfTheEnqueuedPost() throws {
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(forName: nil, on: .current) { _ in }
        let queue = PostingQueue(center: center)
        for style in [NotificationQueue.PostingStyle.asap, .now] {
            let events = try tracing {
                queue.put("a", style)
                RunLoop.pollCurrent()
            }.filter { [.enqueue, .post, .deliver].contains($0.stage) }
            XCTAssertEqual(events.map(\.stage), [.enqueue, .post, .deliver])
            XCTAssertEqual(Set(events.map(\.post)).count, 1)
        }
        token.cancel()
    }
}
