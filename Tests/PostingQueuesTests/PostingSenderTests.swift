import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Senders are compared by identity if they are objects, by equality if they are values. No sender equals no sender.
final class PostingSenderTests: XCTestCase {
    /// Equal to all instances with the same value.
    private final class Equal: Hashable {
        let value: Int
        init(_ value: Int) { self.value = value }
        static func == (one: Equal, other: Equal) -> Bool { one.value == other.value }
        func hash(into hasher: inout Hasher) { hasher.combine(value) }
    }

    private struct Document: Hashable {
        var owner: Equal
        var title = "title"
    }

    private struct Colliding: Hashable {
        var number: Int
        func hash(into hasher: inout Hasher) {}
    }

    private struct Incomparable {
        var number = 1
    }

    /// Calls a block whenever it is compared, unless the block is running.
    private struct Meddling: Hashable {
        let isMeddling: Atomic<Bool>.Box
        let meddle: @Sendable () -> Void

        static func == (one: Meddling, other: Meddling) -> Bool {
            if !one.isMeddling.value.exchange(true, ordering: .relaxed) {
                one.meddle()
                one.isMeddling.value.store(false, ordering: .relaxed)
            }
            return true
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(1)
        }
    }

    func testValuesAreComparedByEquality() {
        XCTAssertTrue(Self.areSimilar("ab", ["a", "b"].joined()))
        XCTAssertFalse(Self.areSimilar("a", "b"))
        XCTAssertTrue(Self.areSimilar(1, 1))
        XCTAssertFalse(Self.areSimilar(1, 2))
        XCTAssertFalse(Self.areSimilar(1, "1"))
        XCTAssertTrue(Self.areSimilar([1, 2], [1, 2]))
        XCTAssertTrue(Self.areSimilar(URL(string: "http://localhost"), URL(string: "http://localhost")))
        XCTAssertFalse(Self.areSimilar(Double.nan, Double.nan))
    }

    func testDifferentValuesWithTheSameHashAreNotSimilar() {
        XCTAssertTrue(Self.areSimilar(Colliding(number: 1), Colliding(number: 1)))
        XCTAssertFalse(Self.areSimilar(Colliding(number: 1), Colliding(number: 2)))
    }

    func testObjectsAreComparedByIdentityAlsoIfTheyAreEqual() {
        let (one, other) = (Equal(1), Equal(1))
        XCTAssertEqual(one, other)
        XCTAssertTrue(Self.areSimilar(one, one))
        XCTAssertFalse(Self.areSimilar(one, other))
        XCTAssertFalse(Self.areSimilar(NSString(string: "a"), NSMutableString(string: "a")))
        XCTAssertFalse(Self.areSimilar(one, Document(owner: one)))
    }

    func testASenderThatCannotBeComparedIsSimilarToNone() {
        let sender = Incomparable()
        XCTAssertFalse(Self.areSimilar(sender, sender))
        XCTAssertFalse(Self.areSimilar({ 1 } as () -> Int, 1))
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        for kept in [PostingQueue.Kept.latest, .earliest] {
            queue.put("a", .asap, from: sender, on: .onSender, keeping: kept)
            queue.put("a", .asap, from: sender, on: [.onName, .onSender], keeping: kept)
        }
        XCTAssertEqual(queue.counters.waiting, 4)
        // On the name alone it is not compared.
        XCTAssertEqual(queue.dequeue("a", from: sender, on: .onName), 4)
    }

    func testADeallocatedSenderIsNotMistakenForALaterObjectAtItsAddress() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        // A waiting notification retains its sender, so its address is not reused.
        for number in 0..<200 { queue.put("a", .asap, from: Equal(number), on: [.onName, .onSender]) }
        XCTAssertEqual(queue.counters, DeliveryCounters(waiting: 200))
        RunLoop.pollCurrent()
        for number in 0..<200 {
            XCTAssertEqual(queue.put("a", .asap, from: Equal(number), on: .onSender).removed, 0)
            RunLoop.pollCurrent()
        }
    }

    func testASenderIsReleasedWithItsNotification() {
        let released = Atomic<Int>.Box(0)
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        struct Value: Hashable {
            var number: Int
            var held: ReleaseRecorder
            static func == (one: Value, other: Value) -> Bool { one.number == other.number }
            func hash(into hasher: inout Hasher) { hasher.combine(number) }
        }
        func sender(_ number: Int) -> Value {
            Value(
                number: number,
                held: ReleaseRecorder {
                    // A release with the lock held would hang here.
                    _ = queue.dequeue("none", from: 1, on: .onSender)
                    released.value.add(1, ordering: .relaxed)
                })
        }
        queue.put("a", .asap, from: sender(1), on: .onSender)
        queue.put("a", .asap, from: sender(1), on: .onSender)
        queue.put("a", .asap, from: sender(1), on: .onSender, keeping: .earliest)
        queue.put("a", .whenIdle, from: sender(2), on: .onSender)
        queue.put("a", .now, from: sender(3), on: .onSender)
        queue.put("b", .asap, from: sender(4))
        XCTAssertEqual(queue.dequeue("b", on: .onName), 1)
        XCTAssertEqual(queue.dequeue("a", from: sender(2), on: .onSender), 1)
        RunLoop.pollCurrent()
        XCTAssertEqual(timeline.entries, ["a", "a"])
        XCTAssertEqual(released.value.load(ordering: .relaxed), 7)
        let isEmpty = ThreadPostings.current.state.withLock { $0.senders.isEmpty }
        XCTAssertEqual(isEmpty, true)
    }

    func testASenderMayEnqueueToTheSameQueueWhileItIsCompared() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            let isMeddling = Atomic<Bool>.Box(false)
            let sender = Meddling(isMeddling: isMeddling) {
                queue.put("of the comparison", .asap)
                queue.put("of the comparison", .asap, from: 2, on: .onSender)
                // It has the same hash, so that there is another candidate afterwards.
                queue.put("similar", .asap, from: Meddling(isMeddling: isMeddling) {})
            }
            for _ in 0..<3 { queue.put("a", .asap, from: sender, on: [.onName, .onSender]) }
            XCTAssertEqual(queue.dequeue("similar", from: sender, on: [.onName, .onSender]), 3)
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.count("a"), 1)
            XCTAssertTrue(timeline.has("of the comparison"))
            XCTAssertEqual(queue.counters.waiting, 0)
        }
    }

    func testASenderMayWaitForAThreadThatEnqueuesToo() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        let sender = Meddling(isMeddling: Atomic<Bool>.Box(false)) {
            // No lock is held, so another thread can enqueue.
            Thread.posting(1) { queue.put("elsewhere", .asap, from: 1, on: .onSender) }.wait()
        }
        for _ in 0..<2 { queue.put("a", .asap, from: sender, on: .onSender) }
        XCTAssertEqual(queue.dequeue("a", from: sender, on: .onSender), 1)
        RunLoop.pollCurrent()
        XCTAssertEqual(timeline.entries, ["elsewhere"])
    }

    /// Checks whether the second of two notifications coalesces with the first, on the sender and on both, and whether
    /// it is dequeued by it.
    private static func areSimilar(_ one: Any?, _ other: Any?, line: UInt = #line) -> Bool {
        let answers = [NotificationQueue.NotificationCoalescing.onSender, [.onName, .onSender]].flatMap { mask in
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            queue.put("a", .asap, from: one)
            let isDequeued = queue.dequeue("a", from: other, on: mask) == 1
            if isDequeued { queue.put("a", .asap, from: one) }
            let isCoalesced = queue.put("a", .asap, from: other, on: mask).removed == 1
            let isKept = queue.put("a", .asap, from: one, on: mask, keeping: .earliest).outcome == .coalesced
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries.count, isCoalesced ? 1 : isKept ? 2 : 3, line: line)
            return [isDequeued, isCoalesced]
        }
        XCTAssertEqual(Set(answers).count, 1, "\(answers)", line: line)
        return answers[0]
    }
}
