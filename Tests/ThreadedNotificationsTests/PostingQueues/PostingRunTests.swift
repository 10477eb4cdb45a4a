import CoreFoundation
import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// The effect of posting on the runs of a run loop that has no other input. `RandomRunLoopTests` has the others.
final class PostingRunTests: XCTestCase {
    private static let own = RunLoop.Mode("of its own")
    private static var idle: Notification { Notification(name: .init("idle")) }
    private static var asap: Notification { Notification(name: .init("asap")) }

    func testARunEndsAfterAPostOrWhenNothingIsLeftToWaitFor() throws {
        let cases: [(name: String, events: [String], begin: @Sendable (Runs) -> Void)] = [
            // "Note that a run loop that is about to exit (which occurs when all of the input channels have expired) is
            // not in a wait state and thus will not post a notification."
            (
                "inputs have expired", ["asap", "returned", "idle", "returned"],
                { runs in
                    RunLoop.addDueTimer {
                        runs.queue.enqueue(Self.idle, postingStyle: .whenIdle)
                        runs.queue.enqueue(Self.asap, postingStyle: .asap)
                    }
                }
            ),
            (
                "no input", ["asap", "returned"], { runs in runs.queue.enqueue(Self.asap, postingStyle: .asap) }
            ),
            (
                "a mode of its own", ["asap", "returned"],
                { runs in
                    runs.mode = Self.own
                    runs.queue.enqueue(Self.asap, postingStyle: .asap, forModes: [Self.own])
                }
            ),
            (
                "dequeued", [],
                { runs in
                    runs.queue.enqueue(Self.asap, postingStyle: .asap)
                    runs.queue.dequeueNotifications(matching: Self.asap)
                }
            ),
            (
                "dequeued in idle detection", ["returned"],
                { $0.whenWaiting { $0.queue.dequeueNotifications(matching: Self.idle) } }
            ),
            (
                "coalesced in idle detection", ["idle", "returned"],
                { $0.whenWaiting { $0.queue.enqueue(Self.idle, postingStyle: .now) } }
            ),
        ]
        for (name, events, begin) in cases {
            let runs = Runs()
            let thread = try SystemThread.start {
                runs.queue = PostingQueue(center: runs)
                begin(runs)
                while RunLoop.current.run(mode: runs.mode, before: .distantFuture) { runs.events.append("returned") }
            }.get()
            try require(thread.join(until: .after(TestTimeout.hang)))
            XCTAssertEqual(runs.events, events, name)
        }
    }

    func testARunReturnsAfterAPostSoThatALoopOnAConditionEndsAndNotForANow() {
        onMainAndAnotherThread {
            for (style, name) in NotificationQueue.PostingStyle.all {
                let timeline = PostingTimeline()
                PostingQueue(center: timeline).put(name, style)
                let waitsFurther = style == .now
                if waitsFurther {
                    RunLoop.addDueTimer {
                        timeline.note("timer")
                        RunLoop.stopCurrent()
                    }
                }
                let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
                XCTAssertTrue(RunLoop.current.run(mode: .default, before: deadline))
                XCTAssertEqual(timeline.entries, waitsFurther ? [name, "timer"] : [name])
            }
        }
    }
}

// Safety: used on one thread, and read after that thread has ended.
private final class Runs: PostingCenter, @unchecked Sendable {
    var queue: PostingQueue!
    var mode = RunLoop.Mode.default
    var events: [String] = []
    private var observer: RunLoopObserver?

    func post(_ queued: QueuedNotification) { events.append(queued.notification.name.rawValue) }

    /// Enqueues an idle notification, and calls a block when the run loop first announces that it waits. The queue's
    /// observer is called before.
    func whenWaiting(_ body: @escaping @Sendable (Runs) -> Void) {
        queue.enqueue(Notification(name: .init("idle")), postingStyle: .whenIdle)
        observer = RunLoopObserver { [unowned self] activity in
            if activity == .beforeWaiting, queue.counters.waiting > 0 { body(self) }
        }
        observer?.add(to: .current, mode: .default)
    }
}
