import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// A `whenIdle` notification is posted only when the run loop would wait.
final class PostingIdleTests: XCTestCase {
    // MARK: Not before ready inputs

    func testNotBeforeTimersThatEachAddOneMoreThatIsDue() {
        @Sendable func add(_ left: Int, _ timeline: PostingTimeline) {
            RunLoop.addDueTimer {
                timeline.note("ready")
                if left > 1 { add(left - 1, timeline) }
            }
        }
        idleComesAfter(20) { add(20, $0) }
    }

    func testNotBeforeBlocksThatEachPerformTheNext() {
        @Sendable func perform(_ left: Int, _ timeline: PostingTimeline) {
            RunLoop.performInMailbox {
                timeline.note("ready")
                if left > 1 { perform(left - 1, timeline) }
            }
        }
        idleComesAfter(20) { perform(20, $0) }
    }

    func testNotBeforeAChainOfDescriptors() {
        idleComesAfter(20) { timeline in
            var chain: [ReadableDescriptor] = []
            for _ in 0..<20 {
                chain.append(
                    ReadableDescriptor { [next = chain.last] in
                        timeline.note("ready")
                        next?.makeReady()
                    })
            }
            chain.last?.makeReady()
            return chain
        }
    }

    func testNotBeforeAMixedChain() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            queue.put("idle", .whenIdle)
            let descriptor = ReadableDescriptor { timeline.note("descriptor") }
            let port = PortReceiver { _ in
                timeline.note("source")
                descriptor.makeReady()
            }
            timeline.when("asap") { [port = port.port] in port.signal() }
            RunLoop.addDueTimer {
                timeline.note("timer")
                RunLoop.current.perform {
                    timeline.note("block")
                    RunLoop.performInMailbox {
                        timeline.note("mailbox")
                        queue.put("asap", .asap)
                    }
                }
            }
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
            XCTAssertEqual(timeline.entries, ["timer", "block", "mailbox", "asap", "source", "descriptor", "idle"])
            withExtendedLifetime((port, descriptor)) {}
        }
    }

    // MARK: The main queue

    func testNotBeforeAChainOfTwentyJobsOfTheMainQueue() {
        @Sendable func perform(_ left: Int, _ timeline: PostingTimeline) {
            DispatchQueue.main.async {
                timeline.note("ready")
                if left > 1 { perform(left - 1, timeline) }
            }
        }
        idleComesAfter(20, onMainOnly: true) { perform(20, $0) }
    }

    func testNotBeforeAChainOfTwentyTasksOfTheMainActor() {
        @Sendable func start(_ left: Int, _ timeline: PostingTimeline) {
            Task { @MainActor in
                timeline.note("ready")
                if left > 1 { start(left - 1, timeline) }
            }
        }
        idleComesAfter(20, onMainOnly: true) { start(20, $0) }
    }

    // MARK: When the run loop does not wait, and when it does

    func testEachWaitsForTheWorkThatTheOneBeforeItCaused() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            let receiver = PortReceiver { _ in timeline.note("source") }
            timeline.when("idle 1") { RunLoop.addDueTimer { timeline.note("timer") } }
            timeline.when("idle 2") { queue.put("asap", .asap) }
            timeline.when("idle 3") { [port = receiver.port] in port.signal() }
            timeline.when("idle 4") { RunLoop.performInMailbox { timeline.note("mailbox") } }
            timeline.when("idle 5") { RunLoop.current.perform { timeline.note("block") } }
            for number in 1...6 { queue.put("idle \(number)", .whenIdle) }
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle 6") })
            XCTAssertEqual(
                timeline.entries,
                [
                    "idle 1", "timer", "idle 2", "asap", "idle 3", "source", "idle 4", "mailbox", "idle 5", "block",
                    "idle 6",
                ])
            withExtendedLifetime(receiver) {}
        }
    }

    func testARunLoopThatReturnsLeavesIdleNotificationsForTheNextRun() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            queue.put("idle", .whenIdle)
            queue.put("asap", .asap)
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries, ["asap"])
            let port = RunLoop.addSignalledPort {
                timeline.note("source")
                queue.put("idle 2", .whenIdle)
                queue.put("asap", .asap)
            }
            XCTAssertTrue(RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: TestTimeout.seconds)))
            XCTAssertEqual(timeline.entries, ["asap", "source", "asap"])
            for _ in 0..<10 { RunLoop.pollCurrent() }
            XCTAssertEqual(timeline.entries, ["asap", "source", "asap"])
            XCTAssertEqual(queue.counters.waiting, 2)
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle 2") })
            XCTAssertEqual(timeline.entries, ["asap", "source", "asap", "idle", "idle 2"])
            withExtendedLifetime(port) {}
        }
    }

    func testARunLoopThatIsStoppedInACalloutPostsAsapAndNotIdleNotifications() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            queue.put("idle", .whenIdle)
            RunLoop.addDueTimer {
                timeline.note("timer")
                queue.put("asap", .asap)
                RunLoop.stopCurrent()
            }
            while timeline.entries.isEmpty {
                XCTAssertTrue(
                    RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: TestTimeout.seconds)))
            }
            XCTAssertEqual(timeline.entries, ["timer", "asap"])
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
        }
    }

    func testASleepingThreadPostsAllIdleNotifications() throws {
        let worker = try RunLoopThread.started("worker")
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline, on: worker)
        let over = DispatchSemaphore(value: 0)
        timeline.when("49") { over.signal() }
        for number in 0..<50 {
            if number % 10 == 0 { worker.identity?.waitUntilAsleep() }
            queue.put("\(number)", .whenIdle)
        }
        XCTAssertEqual(over.wait(timeout: .now() + TestTimeout.seconds), .success)
        XCTAssertEqual(timeline.entries, (0..<50).map { "\($0)" })
        try worker.stopAndWait()
    }

    // MARK: -

    /// Enqueues before and after the inputs are prepared, and runs the run loop. "ready" must come so many times before
    /// both notifications, whether the run returns after each source or not.
    private func idleComesAfter<Held>(
        _ times: Int = 1, onMainOnly: Bool = false, line: UInt = #line,
        _ prepare: @escaping @Sendable (PostingTimeline) -> Held
    ) {
        @Sendable func check() {
            for (mode, returns) in [(RunLoop.Mode.default, true), (.common, true), (.default, false), (.common, false)]
            {
                let timeline = PostingTimeline()
                let queue = PostingQueue(center: timeline)
                queue.put("idle 1", .whenIdle, in: [mode])
                let held = prepare(timeline)
                queue.put("idle 2", .whenIdle, in: [mode])
                if returns {
                    XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle 2") }, line: line)
                } else {
                    timeline.when("idle 2") { RunLoop.stopCurrent() }
                    XCTAssertTrue(RunLoop.runCurrentUntilStopped(), line: line)
                }
                XCTAssertEqual(
                    timeline.entries, Array(repeating: "ready", count: times) + ["idle 1", "idle 2"], line: line)
                withExtendedLifetime(held) {}
            }
        }
        if onMainOnly { check() } else { onMainAndAnotherThread(check) }
    }
}
