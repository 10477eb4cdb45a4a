import CoreFoundation
import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// The effect of posting on the runs of a run loop.
final class PostingRunTests: XCTestCase {
    /// "Note that a run loop that is about to exit (which occurs when all of the input channels have expired) is not in
    /// a wait state and thus will not post a notification."
    func testARunWhoseInputsHaveExpiredPostsAsapAndNotIdleNotificationsWhichTheNextRunPosts() throws {
        let runs = try onThread { runs in
            RunLoop.current.add(
                Timer(fire: Date(), interval: 0, repeats: false) { _ in
                    runs.queue.enqueue(Notification(name: .init("idle")), postingStyle: .whenIdle)
                    runs.queue.enqueue(Notification(name: .init("asap")), postingStyle: .asap)
                }, forMode: .default)
            while RunLoop.current.run(mode: .default, before: .distantFuture) { runs.posted.append("returned") }
        }
        XCTAssertEqual(runs.posted, ["asap", "returned", "idle", "returned"])
        XCTAssertEqual(runs.queue.counters, DeliveryCounters(delivered: 2))
    }

    func testARunWithoutOtherInputPostsAsapNotificationsAndReturns() throws {
        for mode in ["one", "default"] {
            let mode = mode == "one" ? RunLoop.Mode("of its own") : .default
            let runs = try onThread { runs in
                runs.queue.enqueue(Notification(name: .init("asap")), postingStyle: .asap, forModes: [mode])
                while RunLoop.current.run(mode: mode, before: .distantFuture) { runs.returns += 1 }
            }
            XCTAssertEqual(runs.posted, ["asap"])
            XCTAssertEqual(runs.returns, 1)
        }
    }

    func testARunReturnsAfterAPostSoThatALoopOnAConditionEndsAndNotForANow() {
        onMainAndAnotherThread {
            for (style, name) in NotificationQueue.PostingStyle.all {
                for modes: [RunLoop.Mode]? in [nil, [.common], [.init("own"), .default]] {
                    let timeline = PostingTimeline()
                    PostingQueue(center: timeline).put(name, style, in: modes)
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

    func testADequeuedNotificationDoesNotKeepARunLoopRunning() throws {
        let runs = try onThread { runs in
            runs.queue.enqueue(Notification(name: .init("asap")), postingStyle: .asap)
            runs.queue.dequeueNotifications(matching: Notification(name: .init("asap")))
            while RunLoop.current.run(mode: .default, before: .distantFuture) { runs.returns += 1 }
        }
        XCTAssertTrue(runs.posted.isEmpty)
        XCTAssertEqual(runs.returns, 0)
    }

    func testAPostAndASignalledPortMakeOneRunReturnNotTheNext() throws {
        let runs = try onThread { runs in
            let port = SignalPort()
            RunLoop.current.add(port, forMode: .default)
            runs.queue.enqueue(Notification(name: .init("asap")), postingStyle: .asap)
            port.send(before: Date(), components: nil, from: nil, reserved: 0)
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
            RunLoop.current.add(
                Timer(fire: Date(), interval: 0, repeats: false) { _ in
                    runs.returns = 1
                    port.send(before: Date(), components: nil, from: nil, reserved: 0)
                }, forMode: .default)
            _ = RunLoop.current.run(mode: .default, before: .distantFuture)
            // The timer has fired when the second run returns.
            runs.returns += 1
            port.invalidate()
        }
        XCTAssertEqual(runs.posted, ["asap"])
        XCTAssertEqual(runs.returns, 2)
    }

    func testARunThatOnlyAnIdleNotificationKeepsRunningEndsWhenItIsDequeuedDuringIdleDetection() throws {
        for how in ["dequeued", "coalesced"] { try takenOut(how: how) }
    }

    private func takenOut(how: String) throws {
        let runs = try onThread { runs in
            runs.queue.enqueue(Notification(name: .init("idle")), postingStyle: .whenIdle)
            // Called after the queue's observer.
            let observer = RunLoopObserver { activity in
                guard activity == .beforeWaiting, runs.queue.counters.waiting > 0 else { return }
                let idle = Notification(name: .init("idle"))
                if how == "dequeued" {
                    runs.queue.dequeueNotifications(matching: idle)
                } else {
                    runs.queue.enqueue(idle, postingStyle: .now)
                }
            }
            observer.add(to: .current, mode: .default)
            while RunLoop.current.run(mode: .default, before: .distantFuture) { runs.returns += 1 }
            observer.invalidate()
        }
        XCTAssertEqual(runs.posted, (how == "dequeued" ? [] : ["idle"]))
        XCTAssertEqual(runs.returns, 1)
    }

    /// Runs a body on a thread without sources, and waits for its end.
    private func onThread(_ body: @escaping @Sendable (Runs) -> Void) throws -> Runs {
        let runs = Runs()
        let thread = try SystemThread.start {
            runs.queue = PostingQueue(center: runs)
            body(runs)
        }.get()
        try require(thread.join(until: .after(TestTimeout.hang)))
        return runs
    }
}

// Safety: used on one thread, and read after that thread has ended.
private final class Runs: PostingCenter, @unchecked Sendable {
    var queue: PostingQueue!
    var posted: [String] = []
    var returns = 0
    var whenPosted: (String) -> Void = { _ in }

    func post(_ queued: QueuedNotification) {
        posted.append(queued.notification.name.rawValue)
        whenPosted(queued.notification.name.rawValue)
    }
}
