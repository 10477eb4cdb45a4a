import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// A run loop that is run in a handler or in another callout posts as always.
final class PostingNestedRunTests: XCTestCase {
    private static let own = RunLoop.Mode("own")

    func testInAJobOfTheMainQueue() {
        for mode in [RunLoop.Mode.default, Self.own] {
            Self.nests(in: mode, "job") { _, _, nest in DispatchQueue.main.async(execute: nest) }
        }
    }

    func testOfEachStyleInEachStyleThreeDeep() {
        onMainAndAnotherThread {
            for (outer, outerName) in NotificationQueue.PostingStyle.all {
                for (middle, middleName) in NotificationQueue.PostingStyle.all {
                    for (inner, innerName) in NotificationQueue.PostingStyle.all {
                        let timeline = PostingTimeline()
                        let queue = PostingQueue(center: timeline)
                        @Sendable func nest(_ begin: String, _ name: String, _ style: NotificationQueue.PostingStyle) {
                            timeline.when(begin) {
                                queue.put(name, style)
                                XCTAssertTrue(RunLoop.runCurrent { timeline.has("\(name) ends") })
                                timeline.note("\(begin) ends")
                            }
                        }
                        nest("outer", "middle", middle)
                        nest("middle", "inner", inner)
                        timeline.when("inner") { timeline.note("inner ends") }
                        queue.put("outer", outer)
                        queue.put("over", .whenIdle)
                        XCTAssertTrue(RunLoop.runCurrent { timeline.has("outer ends") })
                        XCTAssertTrue(RunLoop.runCurrent { timeline.has("over") })
                        XCTAssertEqual(
                            timeline.entries.filter { $0 != "over" },
                            ["outer", "middle", "inner", "inner ends", "middle ends", "outer ends"],
                            "\(outerName) \(middleName) \(innerName)")
                    }
                }
            }
        }
    }

    func testTheRestOfTheBatchIsPostedInTheNestedRun() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            timeline.when("1") {
                RunLoop.pollCurrent()
                timeline.note("1 ends")
            }
            for number in 1...3 { queue.put("\(number)", .asap) }
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("1 ends") })
            RunLoop.pollCurrent()
            XCTAssertEqual(timeline.entries, ["1", "2", "3", "1 ends"])
        }
    }

    // MARK: -

    /// Runs the run loop in a callout, and checks the order: asap notification, input, idle notification.
    private static func nests<Held>(
        in mode: RunLoop.Mode, _ callout: String, line: UInt = #line,
        _ prepare: (PostingQueue, PostingTimeline, @escaping @Sendable () -> Void) -> Held
    ) {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        // The main queue is served in the default mode, and not inside one of its own jobs.
        let hasJob = Thread.isMainThread && mode == .default && callout != "job"
        let held = prepare(queue, timeline) {
            timeline.note("begins")
            queue.put("idle", .whenIdle, in: [mode])
            queue.put("asap", .asap, in: [mode])
            RunLoop.addDueTimer(in: mode) { timeline.note("timer") }
            if hasJob { DispatchQueue.main.async { timeline.note("job") } }
            let port = RunLoop.addSignalledPort(in: mode) { timeline.note("source") }
            XCTAssertTrue(RunLoop.runCurrent(in: mode) { timeline.has("idle") }, "\(callout)", line: line)
            timeline.note("ends")
            RunLoop.stopCurrent()
            withExtendedLifetime(port) {}
        }
        queue.put("over", .whenIdle)
        XCTAssertTrue(RunLoop.runCurrent { timeline.has("ends") && timeline.has("over") }, "\(callout)", line: line)
        let entries = timeline.entries.filter { $0 != "callout" && $0 != "over" }
        XCTAssertEqual(
            entries.sorted(), ["asap", "begins", "ends", "idle"] + (hasJob ? ["job"] : []) + ["source", "timer"],
            callout,
            line: line)
        XCTAssertEqual(entries.prefix(2), ["begins", "asap"], callout, line: line)
        XCTAssertEqual(entries.suffix(2), ["idle", "ends"], callout, line: line)
        withExtendedLifetime(held) {}
    }
}
