import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// The run loop modes in which notifications are posted. `RandomRunLoopTests` has all sets of modes.
final class PostingModeTests: XCTestCase {
    private static let own = RunLoop.Mode("own")
    private static let other = RunLoop.Mode("other")

    func testCommonIncludesModesThatBecomeCommonLater() {
        Thread.posting(1) {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            queue.put("asap", .asap, in: [.common])
            queue.put("idle", .whenIdle, in: [.common])
            RunLoop.pollCurrent(in: Self.own)
            XCTAssertEqual(timeline.entries, [])
            RunLoop.makeCommonInCurrent(Self.own)
            // A notification that waited before, and a later one.
            XCTAssertTrue(RunLoop.runCurrent(in: Self.own) { timeline.has("idle") })
            XCTAssertEqual(timeline.entries, ["asap", "idle"])
            queue.put("later", .asap, in: [.common])
            RunLoop.pollCurrent(in: Self.other)
            RunLoop.pollCurrent(in: Self.own)
            XCTAssertEqual(timeline.entries, ["asap", "idle", "later"])
        }.wait()
    }

    func testANowForAnotherModeIsPostedFirstWhenItsModeRuns() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            RunLoop.addDueTimer(in: Self.own) { timeline.note("timer") }
            let port = RunLoop.addSignalledPort(in: Self.own) { timeline.note("source") }
            queue.put("idle", .whenIdle, in: [Self.own])
            queue.put("asap", .asap, in: [Self.own])
            Self.inACallout {
                XCTAssertEqual(queue.put("now 1", .now, in: [Self.own]).outcome, .waiting)
                XCTAssertEqual(queue.put("now 2", .now, in: [Self.own, Self.other]).outcome, .waiting)
            }
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries, [])
            XCTAssertTrue(RunLoop.runCurrent(in: Self.own) { timeline.has("idle") })
            XCTAssertEqual(timeline.entries.prefix(3), ["now 1", "now 2", "asap"])
            XCTAssertEqual(timeline.entries.last, "idle")
            XCTAssertEqual(Set(timeline.entries).count, 6)
            withExtendedLifetime(port) {}
        }
    }

    func testANowOnAThreadThatDoesNotRunItsRunLoopIsPostedAtOnceWhateverItsModesAre() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            XCTAssertEqual(queue.put("default", .now).outcome, .delivered)
            XCTAssertEqual(queue.put("common", .now, in: [.common]).outcome, .delivered)
            XCTAssertEqual(queue.put("own", .now, in: [Self.own]).outcome, .delivered)
            XCTAssertEqual(timeline.entries, ["default", "common", "own"])
            queue.put("own", .whenIdle, in: [Self.other])
            let report = queue.put("own", .now, on: .onName, in: [Self.own])
            XCTAssertEqual(report, EnqueueReport(outcome: .delivered, removed: 1))
            XCTAssertEqual(timeline.entries, ["default", "common", "own", "own"])
            // A run loop with nothing to wait for returns.
            RunLoop.pollCurrent(in: Self.other)
            XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 4, coalesced: 1))
        }
    }

    /// Calls a block in a run of the current run loop, in a mode of no queue.
    private static func inACallout(_ body: @escaping @Sendable () -> Void) {
        let probe = RunLoop.Mode("of no queue")
        let port = RunLoop.addSignalledPort(in: probe, body)
        RunLoop.pollCurrent(in: probe)
        withExtendedLifetime(port) {}
    }
}
