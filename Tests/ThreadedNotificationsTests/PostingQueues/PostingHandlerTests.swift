import CoreFoundation
import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Handlers, and other callouts, that use the queues that call them.
final class PostingHandlerTests: XCTestCase {
    func testNowMayBeNestedAHundredDeepAndIsPostedLaterBeyond() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            timeline.when("a") { if timeline.count("a") < 300 { queue.put("a", .now) } }
            queue.put("a", .now)
            XCTAssertTrue((100...101).contains(timeline.entries.count), "\(timeline.entries.count)")
            XCTAssertTrue(RunLoop.runCurrent { timeline.entries.count == 300 })
            XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 300))
        }
    }

    func testAHandlerThatAlwaysEnqueuesAnotherStarvesNothing() {
        onMainAndAnotherThread {
            Self.isServed("timer") { RunLoop.addDueTimer($0) }
            Self.isServed("source") { RunLoop.addSignalledPort($0) }
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
            Self.isServed("asap") { note in
                let timeline = PostingTimeline()
                timeline.when("a", note)
                PostingQueue(center: timeline).put("a", .asap)
            }
        }
        Self.isServed("job") { DispatchQueue.main.async(execute: $0) }
        Self.isServed("task") { note in Task { @MainActor in note() } }
    }

    /// Checks that work is done while a handler always enqueues its own notification.
    private static func isServed<Held>(
        _ what: String, line: UInt = #line, _ prepare: (@escaping @Sendable () -> Void) -> Held
    ) {
        for returnsAfterEachSource in [true, false] {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            // The limit only ends a test that would hang.
            let limit = 10_000
            timeline.when("again") {
                if !timeline.has(what), timeline.entries.count < limit { queue.put("again", .asap) }
            }
            queue.put("again", .asap)
            let held = prepare {
                timeline.note(what)
                RunLoop.stopCurrent()
            }
            if returnsAfterEachSource {
                XCTAssertTrue(RunLoop.runCurrent { timeline.has(what) }, what, line: line)
            } else {
                XCTAssertTrue(RunLoop.runCurrentUntilStopped(), what, line: line)
            }
            XCTAssertLessThan(timeline.entries.count, limit, what, line: line)
            _ = queue.dequeue("again", on: .onName)
            withExtendedLifetime(held) {}
        }
    }

    func testANotificationOfTheLastRunLoopObserverIsPostedInTheSameRun() {
        onMainAndAnotherThread {
            for moment in [CFRunLoopActivity.entry, .beforeTimers, .beforeWaiting] {
                for (style, name) in NotificationQueue.PostingStyle.all where style != .now {
                    let timeline = PostingTimeline()
                    let queue = PostingQueue(center: timeline)
                    let isEnqueued = Locked(false)
                    // It is added after the queue's observer.
                    let observer = RunLoopObserver { activity in
                        guard activity == moment, !isEnqueued.withLock({ $0 }) else { return }
                        isEnqueued.withLock { $0 = true }
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
