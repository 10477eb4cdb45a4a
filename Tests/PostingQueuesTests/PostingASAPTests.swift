import CoreFoundation
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
            for moment in [CFRunLoopActivity.entry, .beforeTimers, .beforeWaiting] {
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
