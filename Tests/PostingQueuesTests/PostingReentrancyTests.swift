import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Handlers that use the queues that call them. `PostingNestedRunTests` covers handlers that run the run loop.
final class PostingReentrancyTests: XCTestCase {
    // MARK: Enqueuing

    func testNowMayBeNestedAHundredDeep() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            timeline.when("a") { if timeline.count("a") < 100 { queue.put("a", .now, on: .onName) } }
            queue.put("a", .now)
            XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 100))
        }
    }

    func testAnIdleHandlerThatAlwaysEnqueuesAnotherStarvesNothing() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            timeline.when("idle") {
                queue.put("idle", .whenIdle)
                let round = timeline.count("idle")
                RunLoop.addDueTimer { timeline.note("timer \(round)") }
            }
            queue.put("idle", .whenIdle)
            XCTAssertTrue(RunLoop.runCurrent { timeline.count("idle") == 20 })
            XCTAssertEqual(timeline.entries, (1...19).flatMap { ["idle", "timer \($0)"] } + ["idle"])
            XCTAssertEqual(queue.dequeue("idle", on: .onName), 1)
        }
    }

    func testTwoThreadsEnqueueForEachOther() throws {
        let timeline = PostingTimeline()
        let worker = try RunLoopThread.started("worker")
        for (style, name) in NotificationQueue.PostingStyle.all {
            let (here, there) = (PostingQueue(center: timeline, on: .main), PostingQueue(center: timeline, on: worker))
            timeline.when("ping") {
                XCTAssertTrue(worker.isCurrent)
                here.put("pong", style)
            }
            timeline.when("pong") {
                XCTAssertFalse(worker.isCurrent)
                if timeline.count("pong") < 50 { there.put("ping", style) }
            }
            there.put("ping", style)
            XCTAssertTrue(RunLoop.runCurrent { timeline.count("pong") == 50 }, name)
            XCTAssertEqual(timeline.entries, (0..<50).flatMap { _ in ["ping", "pong"] })
            timeline.forget()
        }
        try worker.stopAndWait()
    }

    // MARK: Starvation

    func testAHandlerThatAlwaysEnqueuesAnotherStarvesNothing() {
        onMainAndAnotherThread {
            Self.isServed("timer") { RunLoop.addDueTimer($0) }
            Self.isServed("source") { RunLoop.addSignalledPort($0) }
            // A run may handle only one of them. CoreFoundation chooses the first.
            Self.isServed("sources", times: 16) { note in (0..<16).map { _ in RunLoop.addSignalledPort(note) } }
            Self.isServed("block") { RunLoop.current.perform($0) }
            Self.isServed("mailbox") { RunLoop.performInMailbox($0) }
            Self.isServed("descriptor") {
                let descriptor = ReadableDescriptor($0)
                descriptor.makeReady()
                return descriptor
            }
            Self.isServed("notification") { note in
                let center = ThreadedNotificationCenter()
                let token = center.addObserver(forName: nil, on: .current) { _ in note() }
                Thread.posting(1) { center.post(name: Notification.Name("a")) }.wait()
                return token
            }
        }
        Self.isServed("job") { DispatchQueue.main.async(execute: $0) }
        Self.isServed("task") { note in Task { @MainActor in note() } }
    }

    func testAHandlerThatAlwaysEnqueuesAnotherDoesNotStarveOtherAsapNotifications() {
        onMainAndAnotherThread {
            Self.isServed("asap") { note in
                let timeline = PostingTimeline()
                timeline.when("a", note)
                PostingQueue(center: timeline).put("a", .asap)
            }
        }
    }

    /// Checks that work is done so many times while a handler always enqueues its own notification.
    private static func isServed<Held>(
        _ what: String, times: Int = 1, line: UInt = #line, _ prepare: (@escaping @Sendable () -> Void) -> Held
    ) {
        // A pass posts ten batches of one notification each. A run that handles one source makes two passes.
        let limit = 100 * times
        for runsOneSource in [true, false] {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            timeline.when("again") { if timeline.entries.count < limit { queue.put("again", .asap) } }
            queue.put("again", .asap)
            let held = prepare { timeline.note(what) }
            if runsOneSource {
                _ = RunLoop.runCurrent { timeline.count(what) == times || timeline.entries.count >= limit }
            } else {
                for _ in 0..<1000 where timeline.count(what) < times { RunLoop.runCurrentOnce() }
            }
            XCTAssertEqual(timeline.count(what), times, what, line: line)
            XCTAssertLessThan(timeline.entries.count, limit, what, line: line)
            _ = queue.dequeue("again", on: .onName)
            withExtendedLifetime(held) {}
        }
    }

    // MARK: Observers and queues

    func testAHandlerMakesQueuesForNewCentersAndModes() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let other = PostingTimeline()
            let own = RunLoop.Mode("own")
            timeline.when("a") {
                PostingQueue.default(for: other).put("default", .asap)
                PostingQueue(center: other).put("further", .asap, in: [.common])
                PostingQueue(center: other).put("own", .asap, in: [own])
            }
            PostingQueue(center: timeline).put("a", .asap)
            RunLoop.pollCurrent()
            XCTAssertEqual(other.entries, ["default", "further"])
            RunLoop.pollCurrent(in: own)
            XCTAssertEqual(other.entries, ["default", "further", "own"])
        }
    }

    func testANotificationOfAHandlerForNewModesIsNotOvertaken() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            timeline.when("a") {
                queue.put("first", .asap, in: [.default, .init("new \(ObjectIdentifier(timeline))")])
                queue.put("second", .asap)
            }
            queue.put("a", .asap)
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries, ["a", "first", "second"])
        }
    }

    func testANotificationForAModeThatItsHandlerMakesCommonIsPostedInTheSamePass() {
        // On a separate thread, because a mode stays common.
        Thread.posting(1) {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            let own = RunLoop.Mode("own")
            queue.put("common", .asap, in: [.common])
            timeline.when("a") {
                RunLoop.makeCommonInCurrent(own)
                queue.put("b", .asap, in: [own])
            }
            queue.put("a", .asap, in: [own])
            RunLoop.pollCurrent(in: own)
            XCTAssertEqual(timeline.entries, ["a", "common", "b"])
        }.wait()
    }

    func testATracerMayEnqueueAndDequeue() throws {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        let traced = Locked(0)
        DeliveryEvent.tracer = { event in
            guard event.name?.rawValue == "a" else { return }
            traced.withLock { $0 += 1 }
            queue.put("b", .asap, on: .onName)
            _ = queue.dequeue("b", on: .onName)
        }
        defer { DeliveryEvent.tracer = nil }
        queue.put("a", .asap)
        queue.put("a", .whenIdle, on: .onName)
        queue.put("a", .now, on: .onName)
        XCTAssertEqual(timeline.entries, ["a"])
        XCTAssertEqual(traced.withLock { $0 }, 6, "enqueued thrice, coalesced twice, posted")
        XCTAssertEqual(queue.counters.waiting, 0)
    }
}
