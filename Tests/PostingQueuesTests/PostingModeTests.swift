import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// The run loop modes in which notifications are posted.
final class PostingModeTests: XCTestCase {
    private static let own = RunLoop.Mode("own")
    private static let other = RunLoop.Mode("other")

    func testNilAndNoModesMeanTheDefaultMode() {
        for modes in [nil, [], [.default], [.default, .default]] as [[RunLoop.Mode]?] {
            onMainAndAnotherThread { Self.areServed(modes, in: [.default], notIn: [Self.own, Self.other]) }
        }
    }

    func testCommonIncludesModesThatBecomeCommonLater() {
        Thread.posting(1) {
            Self.areServed([.common], in: [.default], notIn: [Self.own, Self.other])
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
            Self.areServed([.common], in: [.default, Self.own], notIn: [Self.other])
            Self.areServed([.common, Self.other], in: [.default, Self.own, Self.other], notIn: [])
        }.wait()
    }

    func testAModeWithNothingButAWaitingNotificationCanBeRun() {
        Thread.posting(1) {
            let empty = RunLoop.Mode("empty")
            XCTAssertFalse(RunLoop.current.run(mode: empty, before: .distantFuture))
            PostingQueue(center: PostingTimeline()).put("a", .asap, in: [empty])
            XCTAssertTrue(RunLoop.current.run(mode: empty, before: .distantFuture))
        }.wait()
    }

    // MARK: Now

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
            for _ in 0..<3 { RunLoop.pollCurrent() }
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

    // MARK: As soon as possible, and when idle

    func testAModalModeDoesNotPostNotificationsForOtherModes() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            queue.put("idle", .whenIdle)
            timeline.when("opens") {
                for name in ["1", "2"] {
                    queue.put("asap \(name)", .asap)
                    queue.put("modal asap \(name)", .asap, in: [Self.own])
                    queue.put("modal idle \(name)", .whenIdle, in: [Self.own])
                }
                XCTAssertTrue(RunLoop.runCurrent(in: Self.own) { timeline.has("modal idle 2") })
                timeline.note("closes")
            }
            queue.put("opens", .asap)
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
            XCTAssertEqual(
                timeline.entries,
                [
                    "opens", "modal asap 1", "modal asap 2", "modal idle 1", "modal idle 2", "closes", "asap 1",
                    "asap 2", "idle",
                ])
        }
    }

    func testInputOfAnotherModeDoesNotPreventIdle() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            RunLoop.addDueTimer { timeline.note("timer") }
            let port = RunLoop.addSignalledPort { timeline.note("source") }
            queue.put("idle", .whenIdle, in: [Self.own])
            XCTAssertTrue(RunLoop.runCurrent(in: Self.own) { timeline.has("idle") })
            XCTAssertEqual(timeline.entries, ["idle"])
            queue.put("idle", .whenIdle)
            XCTAssertTrue(RunLoop.runCurrent { timeline.count("idle") == 2 })
            XCTAssertEqual(timeline.entries.sorted(), ["idle", "idle", "source", "timer"])
            XCTAssertEqual(timeline.entries.last, "idle")
            withExtendedLifetime(port) {}
        }
    }

    // MARK: -

    /// Calls a block in a run of the current run loop, in a mode of no queue.
    private static func inACallout(_ body: @escaping @Sendable () -> Void) {
        let probe = RunLoop.Mode("of no queue")
        let port = RunLoop.addSignalledPort(in: probe, body)
        RunLoop.pollCurrent(in: probe)
        withExtendedLifetime(port) {}
    }

    /// Checks that all styles are posted in each of some modes, and not in others.
    private static func areServed(
        _ modes: [RunLoop.Mode]?, in served: [RunLoop.Mode], notIn others: [RunLoop.Mode], line: UInt = #line
    ) {
        for mode in served {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            // So that now notifications wait too.
            inACallout {
                for (style, name) in NotificationQueue.PostingStyle.all {
                    XCTAssertEqual(queue.put(name, style, in: modes).outcome, .waiting, line: line)
                }
            }
            for other in others {
                // Until the run loop is idle, so that it has posted all.
                queue.put("end", .whenIdle, in: [other])
                XCTAssertTrue(RunLoop.runCurrent(in: other) { timeline.has("end") }, line: line)
                XCTAssertEqual(timeline.entries, ["end"], "in \(other)", line: line)
                timeline.forget()
            }
            XCTAssertTrue(RunLoop.runCurrent(in: mode) { timeline.has("idle") }, line: line)
            XCTAssertEqual(timeline.entries, ["now", "asap", "idle"], "in \(mode)", line: line)
        }
    }
}
