import Foundation
import XCTest

@testable import ThreadedNotifications

/// Similar notifications of one queue are coalesced across posting styles and modes.
final class PostingCoalescingTests: XCTestCase {
    private static let own = RunLoop.Mode("own")

    func testOnNameTheSenderDoesNotMatter() {
        let (posted, counts) = Self.posted { queue in
            queue.put("a", .asap, from: 1)
            queue.put("a", .asap, from: "one")
            queue.put("a", .asap)
            queue.put("b", .asap, from: 1)
            XCTAssertEqual(queue.put("a", .asap, from: 2, on: .onName), EnqueueReport(outcome: .waiting, removed: 3))
        }
        XCTAssertEqual(posted, ["b", "a"])
        XCTAssertEqual(counts, DeliveryCounters(delivered: 2, coalesced: 3))
    }

    func testOnSenderTheNameDoesNotMatter() {
        let (posted, _) = Self.posted { queue in
            queue.put("a", .asap, from: 1)
            queue.put("b", .asap, from: 1)
            queue.put("c", .asap, from: 2)
            queue.put("e", .asap)
            XCTAssertEqual(queue.put("d", .asap, from: 1, on: .onSender).removed, 2)
        }
        XCTAssertEqual(posted, ["c", "e", "d"])
    }

    func testOnBothBothMatter() {
        let (posted, _) = Self.posted { queue in
            queue.put("a", .asap, from: 1)
            queue.put("a", .asap, from: 2)
            queue.put("b", .asap, from: 1)
            queue.put("a", .asap)
            XCTAssertEqual(queue.put("a", .asap, from: 1, on: [.onName, .onSender]).removed, 1)
        }
        XCTAssertEqual(posted, ["a", "b", "a", "a"])
    }

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

    func testOnNoneNothingIsSimilar() {
        for mask in [NotificationQueue.NotificationCoalescing.none, []] {
            for kept in [PostingQueue.Kept.latest, .earliest] {
                let (posted, _) = Self.posted { queue in
                    for _ in 0..<3 {
                        XCTAssertEqual(
                            queue.put("a", .asap, from: 1, on: mask, keeping: kept),
                            EnqueueReport(outcome: .waiting, removed: 0))
                    }
                }
                XCTAssertEqual(posted, ["a", "a", "a"])
            }
        }
    }

    func testTheMaskOfTheLaterNotificationDecides() {
        let (posted, _) = Self.posted { queue in
            queue.put("a", .asap, on: .onName)
            queue.put("a", .asap)
            queue.put("b", .asap)
            queue.put("b", .asap, on: .onName)
        }
        XCTAssertEqual(posted, ["a", "a", "b"])
    }

    func testTheNameIsComparedByEquality() {
        let (posted, _) = Self.posted { queue in
            queue.put(["a", "b"].joined(), .asap, on: .onName)
            queue.put("ab", .asap, on: .onName)
            // Canonically equivalent strings are equal.
            queue.put("e\u{301}", .asap, on: .onName)
            queue.put("\u{e9}", .asap, on: .onName)
            queue.put("AB", .asap, on: .onName)
        }
        XCTAssertEqual(posted, ["ab", "\u{e9}", "AB"])
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
                    let waits = waiting != .now || modes == [Self.own]
                    queue.put("a", waiting, in: modes)
                    timeline.forget()
                    let report = queue.put("a", latest, on: .onName, in: otherModes)
                    XCTAssertEqual(report.removed, waits ? 1 : 0)
                    XCTAssertEqual(report.outcome, latest == .now && otherModes == [.default] ? .delivered : .waiting)
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

    func testTheEarliestKeepsItsPositionItsStyleAndItsModes() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        queue.put("a", .asap)
        queue.put("b", .asap)
        queue.put("c", .whenIdle)
        queue.put("d", .asap, in: [Self.own])
        for (style, _) in NotificationQueue.PostingStyle.all where style != .now {
            for name in ["a", "b", "c", "d"] {
                XCTAssertEqual(
                    queue.put(name, style, on: .onName, keeping: .earliest, in: [.default, Self.own]),
                    EnqueueReport(outcome: .coalesced, removed: 0))
            }
        }
        XCTAssertTrue(RunLoop.runCurrent { timeline.has("c") })
        XCTAssertEqual(timeline.entries, ["a", "b", "c"])
        RunLoop.pollCurrent(in: Self.own)
        XCTAssertEqual(timeline.entries, ["a", "b", "c", "d"])
        XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 4, coalesced: 8))
    }

    func testTheLatestIsPostedLast() {
        let (posted, _) = Self.posted { queue in
            queue.put("a", .asap)
            queue.put("b", .asap)
            queue.put("c", .asap)
            queue.put("a", .asap, on: .onName)
            queue.put("b", .asap, on: .onName, keeping: .latest)
        }
        XCTAssertEqual(posted, ["c", "a", "b"])
    }

    func testOfSeveralTheEarliestOfAllStylesIsKept() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        timeline.when("a") { timeline.note("\($0.object ?? "")") }
        queue.put("a", .whenIdle, from: "first")
        queue.put("a", .asap, from: "second")
        queue.put("a", .asap, from: "third", in: [Self.own])
        XCTAssertEqual(
            queue.put("a", .asap, from: "fourth", on: .onName, keeping: .earliest),
            EnqueueReport(outcome: .coalesced, removed: 2))
        XCTAssertTrue(RunLoop.runCurrent { timeline.has("a") })
        XCTAssertEqual(timeline.entries, ["a", "first"])
        XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 1, coalesced: 3))
    }

    func testKeepingTheEarliestEnqueuesIfNoneIsSimilar() {
        let (posted, counts) = Self.posted { queue in
            XCTAssertEqual(
                queue.put("a", .asap, on: .onName, keeping: .earliest), EnqueueReport(outcome: .waiting, removed: 0))
        }
        XCTAssertEqual(posted, ["a"])
        XCTAssertEqual(counts, DeliveryCounters(delivered: 1))
    }

    func testANowIsKeptAlsoIfTheEarliestShouldBeKept() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        queue.put("a", .asap)
        queue.put("a", .whenIdle)
        XCTAssertEqual(
            queue.put("a", .now, on: .onName, keeping: .earliest), EnqueueReport(outcome: .delivered, removed: 2))
        RunLoop.pollCurrent()
        XCTAssertEqual(timeline.entries, ["a"])
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

    func testOnlyWithinAQueueAlsoIfCenterAndThreadAreTheSame() {
        let timeline = PostingTimeline()
        let queues = [
            PostingQueue(center: timeline), PostingQueue(center: timeline), PostingQueue.default(for: timeline),
        ]
        for mask in [NotificationQueue.NotificationCoalescing.onName, .onSender, [.onName, .onSender]] {
            for _ in 0..<2 { for queue in queues { queue.put("a", .asap, from: 1, on: mask) } }
            for queue in queues { XCTAssertEqual(queue.counters.waiting, 1) }
            XCTAssertEqual(queues[0].dequeue("a", from: 1, on: mask), 1)
            XCTAssertEqual(queues.map(\.counters.waiting), [0, 1, 1])
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries, ["a", "a"])
            timeline.forget()
        }
    }

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
