import Foundation
import XCTest

@testable import ThreadedNotifications

/// First in, first out within a posting style, over all queues of a thread.
final class PostingOrderTests: XCTestCase {
    func testFirstInFirstOutOverAllQueuesOfAThreadForEachStyle() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queues = (0..<3).map { _ in PostingQueue(center: timeline) } + [PostingQueue.default(for: timeline)]
            // A thread that does not run its run loop counts as in the default mode, so now notifications for another
            // mode wait.
            let own = RunLoop.Mode("own")
            for number in 0..<20 {
                for (style, name) in NotificationQueue.PostingStyle.all.reversed() {
                    queues[number % 4].put("\(name) \(number)", style, in: [own])
                }
            }
            XCTAssertEqual(timeline.entries, [])
            XCTAssertTrue(RunLoop.runCurrent(in: own) { timeline.has("idle 19") })
            XCTAssertEqual(
                timeline.entries,
                NotificationQueue.PostingStyle.all.flatMap { style in (0..<20).map { "\(style.name) \($0)" } })
        }
    }

    func testFirstInFirstOutOverAllSetsOfModesForEachStyle() {
        // On a separate thread, because a mode stays common.
        Thread.posting(1) {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            let (own, other) = (RunLoop.Mode("own"), RunLoop.Mode("other"))
            RunLoop.makeCommonInCurrent(own)
            let sets: [[RunLoop.Mode]] = [[own], [.common], [.default, own], [own, other]]
            for number in 0..<20 {
                for (style, name) in NotificationQueue.PostingStyle.all {
                    queue.put("\(name) \(number)", style, in: sets[number % 4])
                    queue.put("not \(name)", style, in: [other])
                }
            }
            // The now notifications for sets with the default mode were posted at once.
            XCTAssertEqual(timeline.entries, (0..<20).filter { [1, 2].contains($0 % 4) }.map { "now \($0)" })
            timeline.forget()
            XCTAssertTrue(RunLoop.runCurrent(in: own) { timeline.has("idle 19") })
            XCTAssertEqual(
                timeline.entries,
                (0..<20).filter { [0, 3].contains($0 % 4) }.map { "now \($0)" } + (0..<20).map { "asap \($0)" }
                    + (0..<20).map { "idle \($0)" })
            XCTAssertTrue(RunLoop.runCurrent(in: other) { timeline.count("not idle") == 20 })
            XCTAssertEqual(queue.counters.waiting, 0)
        }.wait()
    }

    func testTheOrderOfOneStyleIsNotThatOfAnother() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            for (name, style) in [("i1", NotificationQueue.PostingStyle.whenIdle), ("a1", .asap), ("n1", .now)] {
                queue.put(name, style)
            }
            for (name, style) in [("n2", NotificationQueue.PostingStyle.now), ("i2", .whenIdle), ("a2", .asap)] {
                queue.put(name, style)
            }
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("i2") })
            XCTAssertEqual(timeline.entries, ["n1", "n2", "a1", "a2", "i1", "i2"])
        }
    }

    func testTwoThousandArePostedInOrderAfterAThousandInTheMiddleWereDequeued() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queues = (0..<2).map { _ in PostingQueue(center: timeline) }
            for number in 0..<2000 { queues[number % 2].put("\(number)", .asap, from: number % 4 == 3 ? "odd" : nil) }
            for number in stride(from: 0, to: 2000, by: 4) {
                XCTAssertEqual(queues[0].dequeue("\(number)", on: .onName), 1)
            }
            XCTAssertEqual(queues[1].dequeue("any", from: "odd", on: .onSender), 500)
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries, (0..<2000).filter { [1, 2].contains($0 % 4) }.map { "\($0)" })
        }
    }
}
