import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Similar notifications of one queue are coalesced across posting styles and modes.
final class PostingCoalescingTests: XCTestCase {
    private static let own = RunLoop.Mode("own")

    func testOnBothIsTheDefault() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        for sender in [1, 2, 1] {
            queue.enqueue(Notification(name: Notification.Name("a"), object: sender), postingStyle: .asap)
        }
        XCTAssertEqual(queue.counters, DeliveryCounters(waiting: 2, coalesced: 1))
        XCTAssertEqual(
            queue.dequeueNotifications(matching: Notification(name: Notification.Name("a"), object: 1)), 1)
        XCTAssertEqual(queue.dequeue("a", on: .onName), 1)
    }

    // MARK: Across styles and modes

    func testAcrossAllStylesAndModesTheLatestKeepsItsOwnStyle() {
        let modePairs: [([RunLoop.Mode], [RunLoop.Mode])] = [
            ([Self.own], [.default]), ([.default], [Self.own]), ([.common], [Self.own]),
        ]
        for (waiting, _) in NotificationQueue.PostingStyle.all {
            for (latest, _) in NotificationQueue.PostingStyle.all {
                for (modes, otherModes) in modePairs {
                    let timeline = PostingTimeline()
                    let queue = PostingQueue(center: timeline)
                    let waits = waiting != .now
                    queue.put("a", waiting, in: modes)
                    timeline.forget()
                    let report = queue.put("a", latest, on: .onName, in: otherModes)
                    XCTAssertEqual(report.removed, waits ? 1 : 0)
                    XCTAssertEqual(report.outcome, latest == .now ? .delivered : .waiting)
                    // Nothing is posted in the other modes.
                    if report.outcome == .waiting {
                        let elsewhere = otherModes == [.default] ? Self.own : .default
                        RunLoop.pollCurrent(in: elsewhere)
                        XCTAssertEqual(timeline.entries, [])
                        XCTAssertTrue(RunLoop.runCurrent(in: otherModes[0]) { timeline.has("a") })
                    }
                    XCTAssertEqual(timeline.entries, ["a"])
                    XCTAssertEqual(queue.counters.coalesced, waits ? 1 : 0)
                }
            }
        }
    }

    func testThePostedNotificationHasTheContentOfTheKeptOne() {
        for (kept, content) in [(PostingQueue.Kept.latest, 3), (.earliest, 1)] {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            timeline.when("a") { timeline.note("\($0.userInfo?["content"] as? Int ?? 0)") }
            for content in 1...3 {
                queue.enqueue(
                    Notification(name: Notification.Name("a"), userInfo: ["content": content]), postingStyle: .asap,
                    keeping: kept)
            }
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries, ["a", "\(content)"])
        }
    }

    // MARK: Notifications that are not similar

    func testAPostedNotificationIsNotSimilar() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        for _ in 0..<3 {
            XCTAssertEqual(queue.put("a", .asap, on: .onName).removed, 0)
            RunLoop.pollCurrent()
        }
        XCTAssertEqual(timeline.entries, ["a", "a", "a"])
    }

    func testANotificationThatIsBeingPostedIsNotSimilar() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        for kept in [PostingQueue.Kept.latest, .earliest] {
            timeline.when("a") {
                guard timeline.count("a") == 1 else { return }
                XCTAssertEqual(
                    queue.put("a", .asap, on: .onName, keeping: kept), EnqueueReport(outcome: .waiting, removed: 0))
            }
            queue.put("a", .asap)
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries, ["a", "a"])
            timeline.forget()
        }
    }

    func testTenThousandOfOneNameCoalesceAndAThousandNamesDoNot() {
        let (posted, counts) = Self.posted { queue in
            for number in 0..<10_000 { queue.put("\(number % 1000)", .asap, on: .onName) }
        }
        XCTAssertEqual(posted, (0..<1000).map { "\($0)" })
        XCTAssertEqual(counts, DeliveryCounters(delivered: 1000, coalesced: 9000))
    }

    // MARK: -

    private static func posted(_ enqueue: (PostingQueue) -> Void) -> ([String], DeliveryCounters) {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        enqueue(queue)
        RunLoop.pollCurrent()
        return (timeline.entries, queue.counters)
    }
}
