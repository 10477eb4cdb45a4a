import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// A run loop that is run in a handler or in another callout posts as always.
final class PostingNestedRunTests: XCTestCase {
    private static let own = RunLoop.Mode("own")

    func testInAHandlerOfEachStyle() {
        for (style, name) in NotificationQueue.PostingStyle.all {
            for mode in [RunLoop.Mode.default, Self.own] {
                onMainAndAnotherThread {
                    Self.nests(in: mode, name) { queue, timeline, nest in
                        timeline.when("callout", nest)
                        queue.put("callout", style)
                    }
                }
            }
        }
    }

    func testInATimersCallout() {
        for mode in [RunLoop.Mode.default, Self.own] {
            onMainAndAnotherThread {
                Self.nests(in: mode, "timer") { _, _, nest in RunLoop.addDueTimer(nest) }
            }
        }
    }

    func testInARepeatingTimersCallout() {
        for mode in [RunLoop.Mode.default, Self.own] {
            onMainAndAnotherThread {
                let timeline = PostingTimeline()
                let queue = PostingQueue(center: timeline)
                let timer = Timer(fire: Date(), interval: 0.001, repeats: true) { timer in
                    timeline.note("timer")
                    queue.put("asap", .asap, in: [mode])
                    queue.put("idle", .whenIdle, in: [mode])
                    let idle = timeline.count("idle")
                    XCTAssertTrue(RunLoop.runCurrent(in: mode) { timeline.count("idle") > idle })
                    if timeline.count("timer") == 5 {
                        timer.invalidate()
                        queue.put("over", .whenIdle)
                    }
                }
                RunLoop.current.add(timer, forMode: .default)
                XCTAssertTrue(RunLoop.runCurrent { timeline.has("over") })
                XCTAssertEqual(
                    timeline.entries, Array(repeating: ["timer", "asap", "idle"], count: 5).flatMap(\.self) + ["over"])
            }
        }
    }

    func testInABlockASourceADescriptorAndTheMailbox() {
        for mode in [RunLoop.Mode.default, Self.own] {
            onMainAndAnotherThread {
                Self.nests(in: mode, "block") { _, _, nest in RunLoop.current.perform(nest) }
                Self.nests(in: mode, "source") { _, _, nest in RunLoop.addSignalledPort(nest) }
                Self.nests(in: mode, "mailbox") { _, _, nest in RunLoop.performInMailbox(nest) }
                Self.nests(in: mode, "descriptor") { _, _, nest in
                    let descriptor = ReadableDescriptor(nest)
                    descriptor.makeReady()
                    return descriptor
                }
            }
        }
    }

    func testInAJobOfTheMainQueue() {
        for mode in [RunLoop.Mode.default, Self.own] {
            Self.nests(in: mode, "job") { _, _, nest in DispatchQueue.main.async(execute: nest) }
        }
    }

    func testInACalloutBeforeWaitingTheMainQueueComesBeforeIdleNotifications() {
        let timeline = PostingTimeline()
        let queue = PostingQueue(center: timeline)
        let descriptor = ReadableDescriptor {
            timeline.note("descriptor")
            DispatchQueue.main.async { timeline.note("job") }
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
            timeline.note("ends")
        }
        descriptor.makeReady()
        // This is the only reason for the run loop to announce that it will wait.
        queue.put("idle", .whenIdle)
        XCTAssertTrue(RunLoop.runCurrent { timeline.has("ends") })
        XCTAssertEqual(timeline.entries, ["descriptor", "job", "idle", "ends"])
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

    func testAfterwardsTheOuterRunPostsAsBefore() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            for round in 0..<3 {
                timeline.when("outer") {
                    queue.put("inner", .whenIdle)
                    XCTAssertTrue(RunLoop.runCurrent { timeline.has("inner") })
                }
                queue.put("outer", .asap)
                XCTAssertTrue(RunLoop.runCurrent { timeline.has("outer") })
                queue.put("idle", .whenIdle)
                queue.put("asap", .asap)
                XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
                XCTAssertEqual(timeline.entries, ["outer", "inner", "asap", "idle"], "\(round)")
                timeline.forget()
            }
        }
    }

    func testAnEarlierIdleNotificationIsPostedWhenTheNestedRunWaits() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            queue.put("idle", .whenIdle)
            timeline.when("asap") {
                RunLoop.pollCurrent()
                timeline.note("polled")
                XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
                timeline.note("waited")
            }
            queue.put("asap", .asap)
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("waited") })
            XCTAssertEqual(timeline.entries, ["asap", "polled", "idle", "waited"])
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
