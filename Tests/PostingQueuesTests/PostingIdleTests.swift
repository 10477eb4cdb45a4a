import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// A `whenIdle` notification is posted only when the run loop would wait.
final class PostingIdleTests: XCTestCase {
    // MARK: Not before ready inputs

    func testNotBeforeADueTimer() {
        idleComesAfter { timeline in RunLoop.addDueTimer { timeline.note("ready") } }
    }

    func testNotBeforeATimerThatBecameDueMeanwhile() {
        idleComesAfter { timeline in
            let timer = Timer(fire: Date(timeIntervalSinceNow: 0.01), interval: 0, repeats: false) { _ in
                timeline.note("ready")
            }
            RunLoop.current.add(timer, forMode: .default)
            // The run loop is woken by another clock.
            let due = timer.fireDate.addingTimeInterval(0.001)
            RunLoop.current.perform { while Date() <= due {} }
        }
    }

    func testNotBeforeTimersThatEachAddOneMoreThatIsDue() {
        @Sendable func add(_ left: Int, _ timeline: PostingTimeline) {
            RunLoop.addDueTimer {
                timeline.note("ready")
                if left > 1 { add(left - 1, timeline) }
            }
        }
        idleComesAfter(20) { add(20, $0) }
    }

    func testNotBeforeASignalledSource() {
        idleComesAfter { timeline in RunLoop.addSignalledPort { timeline.note("ready") } }
    }

    func testNotBeforeManySignalledSources() {
        idleComesAfter(5) { timeline in (0..<5).map { _ in RunLoop.addSignalledPort { timeline.note("ready") } } }
    }

    func testNotBeforeASourceThatIsSignalledInItsOwnCallout() {
        idleComesAfter(20) { timeline in
            let receiver = PortReceiver { port in
                timeline.note("ready")
                if timeline.count("ready") < 20 { port.signal() }
            }
            receiver.port.signal()
            return receiver
        }
    }

    func testNotBeforeABlockOfTheRunLoop() {
        idleComesAfter { timeline in RunLoop.current.perform { timeline.note("ready") } }
    }

    func testNotBeforeABlockThatABlockPerforms() {
        idleComesAfter(2) { timeline in
            RunLoop.current.perform {
                timeline.note("ready")
                RunLoop.current.perform { timeline.note("ready") }
            }
        }
    }

    func testNotBeforeABlockPerformedByTheLibrary() {
        idleComesAfter { timeline in RunLoop.performInMailbox { timeline.note("ready") } }
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

    func testNotBeforeANotificationInTheMailbox() {
        idleComesAfter { timeline in
            let center = ThreadedNotificationCenter()
            let token = center.addObserver(forName: nil, on: .current) { _ in timeline.note("ready") }
            Thread.posting(1) { center.post(name: Notification.Name("a")) }.wait()
            XCTAssertEqual(token.counters.waiting, 1)
            return token
        }
    }

    func testNotBeforeAReadableDescriptor() {
        idleComesAfter { timeline in
            let descriptor = ReadableDescriptor { timeline.note("ready") }
            descriptor.makeReady()
            return descriptor
        }
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

    func testNotBeforeAsapNotificationsOfAllQueues() {
        idleComesAfter(12) { timeline in
            let queues = (0..<3).map { _ in PostingQueue(center: timeline) }
            // The handler enqueues one more for each of the first three.
            timeline.when("ready") { if timeline.count("ready") <= 3 { queues[1].put("ready", .asap) } }
            for number in 0..<9 { queues[number % 3].put("ready", .asap) }
        }
    }

    func testNotBeforeAChainOfAHundredAsapNotifications() {
        idleComesAfter(100) { timeline in
            let queue = PostingQueue(center: timeline)
            timeline.when("ready") { if timeline.count("ready") < 100 { queue.put("ready", .asap) } }
            queue.put("ready", .asap)
        }
    }

    func testNotBeforeABlockThatIsEnqueuedWhenTheRunLoopIsAboutToWait() {
        // The run loop announces twice that it will wait.
        for announcement in 1...2 {
            idleComesAfter { timeline in
                let queue = PostingQueue(center: timeline)
                return Self.atTheEnd(ofAnnouncement: announcement) { queue.put("ready", .asap) }
            }
            idleComesAfter { timeline in
                Self.atTheEnd(ofAnnouncement: announcement) { RunLoop.performInMailbox { timeline.note("ready") } }
            }
        }
    }

    /// Calls a block when the run loop has announced so many times that it will wait, after all other observers.
    private static func atTheEnd(ofAnnouncement number: Int, _ body: @escaping @Sendable () -> Void) -> RunLoopObserver
    {
        let announcements = Locked(0)
        let observer = RunLoopObserver { activity in
            guard activity == .beforeWaiting else { return }
            let count = announcements.withLock { count in
                count += 1
                return count
            }
            if count == number { body() }
        }
        observer.add(to: .current, mode: .default)
        return observer
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

    func testNotBeforeAJobOfTheMainQueue() {
        idleComesAfter(onMainOnly: true) { timeline in DispatchQueue.main.async { timeline.note("ready") } }
    }

    func testNotBeforeAChainOfTwentyJobsOfTheMainQueue() {
        @Sendable func perform(_ left: Int, _ timeline: PostingTimeline) {
            DispatchQueue.main.async {
                timeline.note("ready")
                if left > 1 { perform(left - 1, timeline) }
            }
        }
        idleComesAfter(20, onMainOnly: true) { perform(20, $0) }
    }

    func testNotBeforeATaskOfTheMainActor() {
        idleComesAfter(onMainOnly: true) { timeline in Task { @MainActor in timeline.note("ready") } }
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

    func testNotBeforeAJobOfTheMainQueueThatAnIdleHandlerOrATimerAdds() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        timeline.when("idle") { DispatchQueue.main.async { timeline.note("job") } }
        queue.put("idle", .whenIdle)
        queue.put("idle", .whenIdle)
        queue.put("last", .whenIdle)
        RunLoop.addDueTimer { DispatchQueue.main.async { timeline.note("job") } }
        XCTAssertTrue(RunLoop.runCurrent { timeline.has("last") })
        XCTAssertEqual(timeline.entries, ["job", "idle", "job", "idle", "job", "last"])
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

    func testEachRunThatWaitsPostsOne() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            for number in 0..<5 { queue.put("\(number)", .whenIdle) }
            for number in 0..<5 {
                XCTAssertEqual(timeline.entries, (0..<number).map { "\($0)" })
                // The run returns after one.
                XCTAssertTrue(RunLoop.runCurrent { timeline.entries.count > number })
            }
        }
    }

    func testARepeatingTimerThatIsNotDueDoesNotDelayIt() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            let timer = Timer(fire: Date(), interval: 0.005, repeats: true) { _ in }
            RunLoop.current.add(timer, forMode: .default)
            for number in 0..<20 { queue.put("\(number)", .whenIdle) }
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("19") })
            XCTAssertEqual(timeline.entries, (0..<20).map { "\($0)" })
            timer.invalidate()
        }
    }

    func testANotificationForAnotherModeDoesNotDelayIt() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            let own = RunLoop.Mode("own")
            queue.put("own asap", .asap, in: [own])
            queue.put("own idle", .whenIdle, in: [own])
            let port = RunLoop.addSignalledPort(in: own) { timeline.note("own source") }
            queue.put("idle", .whenIdle)
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
            XCTAssertEqual(timeline.entries, ["idle"])
            XCTAssertTrue(RunLoop.runCurrent(in: own) { timeline.has("own idle") })
            XCTAssertEqual(timeline.entries, ["idle", "own asap", "own source", "own idle"])
            withExtendedLifetime(port) {}
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
