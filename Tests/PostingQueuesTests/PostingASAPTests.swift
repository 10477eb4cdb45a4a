import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// An `asap` notification is posted when the current callout or pass ends, before the run loop waits or returns.
final class PostingASAPTests: XCTestCase {
    func testItIsPostedBeforeARunThatHandlesOneSourceReturns() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            let ports = (1...2).map { _ in
                RunLoop.addSignalledPort {
                    timeline.note("source")
                    queue.put("asap", .asap)
                }
            }
            for round in 1...2 {
                XCTAssertTrue(
                    RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: TestTimeout.seconds)))
                XCTAssertEqual(timeline.entries, Array(repeating: ["source", "asap"], count: round).flatMap(\.self))
            }
            withExtendedLifetime(ports) {}
        }
    }

    func testItIsPostedInAPoll() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            for date in [Date.distantPast, Date(), Date(timeIntervalSinceNow: -1)] {
                queue.put("asap", .asap)
                XCTAssertEqual(timeline.entries, [])
                XCTAssertTrue(RunLoop.current.run(mode: .default, before: date))
                XCTAssertEqual(timeline.entries, ["asap"])
                XCTAssertEqual(queue.counters.waiting, 0)
                timeline.forget()
            }
        }
    }

    func testANotificationEnqueuedInAPollIsPostedBeforeThePollReturns() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            for callout in ["source", "timer", "block", "mailbox", "descriptor"] {
                @Sendable func handle() {
                    timeline.note(callout)
                    queue.put("asap", .asap)
                }
                let port = PortReceiver { _ in handle() }
                let descriptor = ReadableDescriptor(handle)
                switch callout {
                case "source": port.port.signal()
                case "timer": RunLoop.addDueTimer(handle)
                case "block": RunLoop.current.perform(handle)
                case "mailbox": RunLoop.performInMailbox(handle)
                default: descriptor.makeReady()
                }
                // A poll may return early because of an earlier wake-up.
                while timeline.entries.isEmpty { RunLoop.pollCurrent() }
                XCTAssertEqual(timeline.entries, [callout, "asap"])
                timeline.forget()
                withExtendedLifetime((port, descriptor)) {}
            }
        }
    }

    func testANotificationOfAMainQueueJobIsPostedBeforeTheRunReturns() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        DispatchQueue.main.async {
            timeline.note("job")
            queue.put("asap", .asap)
        }
        while timeline.entries.isEmpty {
            XCTAssertTrue(RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: TestTimeout.seconds)))
        }
        XCTAssertEqual(timeline.entries, ["job", "asap"])
    }

    func testItIsPostedByARunUntilADate() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            queue.put("asap", .asap)
            RunLoop.addDueTimer {
                timeline.note("timer")
                queue.put("asap", .asap)
            }
            while timeline.count("asap") < 2 { RunLoop.current.run(until: Date(timeIntervalSinceNow: 0.001)) }
            XCTAssertEqual(timeline.entries, ["asap", "timer", "asap"])
        }
    }

    func testItIsPostedBeforeTheRunLoopWaits() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            for callout in ["timer", "block"] {
                @Sendable func handle() {
                    timeline.note(callout)
                    queue.put("asap", .asap)
                    // Neither timer makes the run loop return, so it would wait for the second one.
                    RunLoop.addTimer(after: 0.05) {
                        timeline.note("second")
                        RunLoop.stopCurrent()
                    }
                }
                if callout == "timer" { RunLoop.addDueTimer(handle) } else { RunLoop.current.perform(handle) }
                while !timeline.has("second") {
                    XCTAssertTrue(
                        RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: TestTimeout.seconds)))
                }
                XCTAssertEqual(timeline.entries, [callout, "asap", "second"])
                timeline.forget()
            }
        }
    }

    func testItIsPostedBeforeTimersAndSourcesThatAreReadyWhenTheRunLoopIsEntered() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            let port = RunLoop.addSignalledPort { timeline.note("source") }
            RunLoop.addDueTimer { timeline.note("timer") }
            queue.put("asap", .asap)
            queue.put("idle", .whenIdle)
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
            XCTAssertEqual(timeline.entries.first, "asap")
            withExtendedLifetime(port) {}
        }
    }

    func testARunReturnsAfterAPostSoThatALoopOnAConditionEnds() {
        onMainAndAnotherThread {
            for (style, name) in NotificationQueue.PostingStyle.all where style != .now {
                for modes: [RunLoop.Mode]? in [nil, [.common], [.init("own"), .default]] {
                    let timeline = PostingTimeline()
                    let queue = PostingQueue(center: timeline)
                    let isOver = Locked(false)
                    timeline.when(name) { isOver.withLock { $0 = true } }
                    queue.put(name, style, in: modes)
                    let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
                    while !isOver.withLock({ $0 }), RunLoop.current.run(mode: .default, before: deadline) {}
                    XCTAssertEqual(timeline.entries, [name])
                    XCTAssertLessThan(Date(), deadline)
                }
            }
        }
    }

    func testARunReturnsAfterANotificationOfATimerWasPosted() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            for (style, name) in NotificationQueue.PostingStyle.all where style != .now {
                RunLoop.addDueTimer { queue.put(name, style) }
                XCTAssertTrue(RunLoop.runCurrent { timeline.has(name) })
            }
            XCTAssertEqual(timeline.entries, ["asap", "idle"])
        }
    }

    func testARunThatPostsNothingDoesNotReturn() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            queue.put("asap", .asap)
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("asap") })
            // Nothing was posted since then, so the run waits until the timer fires.
            RunLoop.addTimer(after: 0.01) {
                timeline.note("timer")
                RunLoop.stopCurrent()
            }
            XCTAssertTrue(RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: TestTimeout.seconds)))
            XCTAssertEqual(timeline.entries, ["asap", "timer"])
        }
    }

    func testANotificationOfTheLastRunLoopObserverIsPostedInTheSameRun() {
        onMainAndAnotherThread {
            for moment in [RunLoopObserver.Activity.entry, .beforeTimers, .beforeWaiting] {
                for (style, name) in NotificationQueue.PostingStyle.all where style != .now {
                    for runsTheRunLoop in [false, true] {
                        let timeline = PostingTimeline()
                        let queue = PostingQueue(center: timeline)
                        let isEnqueued = Locked(false)
                        // It is added after the queue's observer.
                        let observer = RunLoopObserver { activity in
                            guard activity == moment, !isEnqueued.withLock({ $0 }) else { return }
                            isEnqueued.withLock { $0 = true }
                            if runsTheRunLoop { RunLoop.pollCurrent() }
                            queue.put(name, style)
                        }
                        observer.add(to: .current, mode: .default)
                        XCTAssertTrue(RunLoop.runCurrent { timeline.has(name) }, "\(moment) \(name)")
                        observer.invalidate()
                    }
                }
            }
        }
    }
}
