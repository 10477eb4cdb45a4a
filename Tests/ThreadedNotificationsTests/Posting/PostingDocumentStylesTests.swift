import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

/// The sentences of "Notification Programming Topics" about posting styles, one test each.
final class PostingDocumentStylesTests: XCTestCase {
    private let modal = RunLoop.Mode("NSModalPanelRunLoopMode")

    // MARK: Posting As Soon As Possible

    /// "NSPostASAP style is posted to the notification center when the current iteration of the run loop completes,
    /// assuming the current run loop mode matches the requested mode."
    func testAsSoonAsPossibleIsWhenTheIterationCompletes() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            let port = RunLoop.addSignalledPort {
                queue.put("asap", .asap)
                timeline.note("callout ends")
            }
            // One source is handled, so this is one iteration.
            XCTAssertTrue(RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: TestTimeout.seconds)))
            XCTAssertEqual(timeline.entries, ["callout ends", "asap"])
            withExtendedLifetime(port) {}
        }
    }

    /// "(If the requested and current modes are different, the notification is posted when the requested mode is
    /// entered.)"
    func testAsSoonAsPossibleInAnotherModeIsWhenThatIsEntered() {
        let modal = modal
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            queue.put("asap", .asap, in: [modal])
            RunLoop.pollCurrent()
            timeline.note("another mode")
            // It is posted before other work of the mode, because the mode is entered.
            RunLoop.addDueTimer(in: modal) { timeline.note("timer") }
            queue.put("idle", .whenIdle, in: [modal])
            XCTAssertTrue(RunLoop.runCurrent(in: modal) { timeline.has("idle") })
            XCTAssertEqual(timeline.entries, ["another mode", "asap", "timer", "idle"])
        }
    }

    /// "Because the run loop can make multiple callouts during each iteration, the notification may or may not get
    /// delivered as soon as the current callout exits and control returns to the run loop. Other callouts may take
    /// place first, such as a timer or source firing or other asynchronous notifications being delivered."
    func testOtherCalloutsOfTheIterationMayComeFirst() {
        onMainAndAnotherThread {
            for callouts in ["timers", "sources", "notifications"] {
                let timeline = PostingTimeline()
                let queue = PostingQueue(center: timeline)
                var ports: [PortReceiver] = []
                for number in 1...3 {
                    @Sendable func callout() {
                        timeline.note("callout \(number)")
                        queue.put("asap", .asap, on: .onName)
                    }
                    switch callouts {
                    case "timers": RunLoop.addDueTimer(callout)
                    case "sources": ports.append(RunLoop.addSignalledPort(callout))
                    default:
                        timeline.when("notification \(number)", callout)
                        queue.put("notification \(number)", .asap)
                    }
                }
                // All ready inputs are handled in one iteration.
                while !timeline.has("asap") { RunLoop.runCurrentOnce() }
                XCTAssertEqual(
                    timeline.entries.filter { !$0.hasPrefix("notification") }.sorted(),
                    ["asap", "callout 1", "callout 2", "callout 3"], callouts)
                XCTAssertEqual(timeline.entries.last, "asap", callouts)
                withExtendedLifetime(ports) {}
            }
        }
    }

    /// "NSPostASAP posting style for an expensive resource, such as the display server. When many clients draw on the
    /// window buffer during a callout from the run loop, it is expensive to flush the buffer to the display server
    /// after every draw operation. In this situation, each draw... method enqueues some notification such as
    /// “FlushTheServer” with coalescing on name and object specified and with a posting style of NSPostASAP. As a
    /// result, only one of those notifications is dispatched at the end of the run loop and the window buffer is
    /// flushed only once."
    func testFiveHundredDrawsOfAWindowFlushItOnce() {
        final class Window: Sendable {}
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            let (window, other) = (Window(), Window())
            timeline.when("FlushTheServer") { notification in
                timeline.note(notification.object as AnyObject === window ? "window" : "other")
            }
            let port = RunLoop.addSignalledPort {
                for draw in 0..<500 {
                    queue.put("FlushTheServer", .asap, from: window, on: [.onName, .onSender])
                    if draw % 100 == 0 { queue.put("FlushTheServer", .asap, from: other, on: [.onName, .onSender]) }
                }
                timeline.note("drawn")
            }
            XCTAssertTrue(RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: TestTimeout.seconds)))
            XCTAssertEqual(timeline.entries, ["drawn", "FlushTheServer", "other", "FlushTheServer", "window"])
            XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 2, coalesced: 503))
            withExtendedLifetime(port) {}
        }
    }

    // MARK: Posting When Idle

    /// "A notification queued with the NSPostWhenIdle style is posted only when the run loop is in a wait state. In
    /// this state, there’s nothing in the run loop’s input channels, be it timers or other asynchronous events."
    func testWhenIdleIsWhenNothingIsInTheInputChannels() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            queue.put("idle", .whenIdle)
            RunLoop.addDueTimer { timeline.note("timer") }
            let port = RunLoop.addSignalledPort { timeline.note("source") }
            let descriptor = ReadableDescriptor { timeline.note("descriptor") }
            descriptor.makeReady()
            RunLoop.current.perform { timeline.note("block") }
            RunLoop.performInMailbox { timeline.note("mailbox") }
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
            XCTAssertEqual(timeline.entries.last, "idle")
            XCTAssertEqual(
                timeline.entries.dropLast().sorted(), ["block", "descriptor", "mailbox", "source", "timer"])
            withExtendedLifetime((port, descriptor)) {}
        }
    }

    /// "A typical example of queuing with the NSPostWhenIdle style occurs when the user types text, and the program
    /// displays the size of the text in bytes somewhere. It would be very expensive (and not very useful) to update the
    /// text field size after each character the user types, especially if the user types quickly. In this case, the
    /// program queues a notification, such as “ChangeTheDisplayedSize,” with coalescing turned on and a posting style
    /// of NSPostWhenIdle after each character typed. When the user stops typing, the single “ChangeTheDisplayedSize”
    /// notification in the queue (due to coalescing) is posted when the run loop enters its wait state and the display
    /// is updated."
    func testTheDisplayedSizeChangesOnceWhenTheTypingStops() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            let text = Locked("")
            timeline.when("ChangeTheDisplayedSize") { timeline.note("\(text.withLock { $0 }.utf8.count) bytes") }
            // The user types quickly: each key is ready when the one before has been handled.
            let keyboard = PortReceiver { port in
                text.withLock { $0.append("ж") }
                queue.put("ChangeTheDisplayedSize", .whenIdle, on: .onName)
                if text.withLock({ $0.count }) < 20 { port.signal() }
            }
            keyboard.port.signal()
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("ChangeTheDisplayedSize") })
            XCTAssertEqual(timeline.entries, ["ChangeTheDisplayedSize", "40 bytes"])
            XCTAssertEqual(queue.counters, DeliveryCounters(delivered: 1, coalesced: 19))
            withExtendedLifetime(keyboard) {}
        }
    }

    /// "Note that a run loop that is about to exit (which occurs when all of the input channels have expired) is not in
    /// a wait state and thus will not post a notification."
    func testARunLoopThatIsAboutToExitPostsNoIdleNotification() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            queue.put("idle", .whenIdle)
            // It returns because its time has expired, because it has handled a source, and because it was stopped.
            RunLoop.pollCurrent()
            let port = RunLoop.addSignalledPort { timeline.note("source") }
            XCTAssertTrue(RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: TestTimeout.seconds)))
            RunLoop.addDueTimer {
                timeline.note("timer")
                RunLoop.stopCurrent()
            }
            XCTAssertTrue(RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: TestTimeout.seconds)))
            XCTAssertEqual(timeline.entries, ["source", "timer"])
            XCTAssertEqual(queue.counters, DeliveryCounters(waiting: 1))
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("idle") })
            withExtendedLifetime(port) {}
        }
    }

    // MARK: Posting Immediately

    /// "A notification queued with NSPostNow is posted immediately after coalescing to the notification center."
    func testNowIsPostedAfterCoalescing() {
        onMainAndAnotherThread {
            let timeline = PostingTimeline()
            let queue = PostingQueue(center: timeline)
            timeline.when("a") { timeline.note("\(queue.counters)") }
            queue.put("a", .asap)
            queue.put("a", .whenIdle)
            XCTAssertEqual(queue.put("a", .now, on: .onName), EnqueueReport(outcome: .delivered, removed: 2))
            XCTAssertEqual(timeline.entries, ["a", "3: delivered 1, coalesced 2"])
        }
    }

    /// "You queue a notification with NSPostNow (or post one with postNotification:) when you do not require
    /// asynchronous calling behavior. For many programming situations, synchronous behavior is not only allowable but
    /// desirable: You want the notification center to return after dispatching so you can be sure that observing
    /// objects have received and processed the notification."
    func testWhenANowReturnsTheObserversHaveProcessedIt() {
        onMainAndAnotherThread {
            let center = NotificationCenter()
            let timeline = PostingTimeline()
            for _ in 0..<3 { timeline.observe(center) }
            XCTAssertEqual(PostingQueue(center: center).put("a", .now).outcome, .delivered)
            timeline.note("returned")
            center.post(name: Notification.Name("b"), object: nil)
            timeline.note("returned")
            XCTAssertEqual(timeline.entries, ["a", "a", "a", "returned", "b", "b", "b", "returned"])
        }
    }

    /// "Of course, you should use enqueueNotification... with NSPostNow rather than use postNotification: when there
    /// are similar notifications in the queue that you want to remove through coalescing."
    func testNowRemovesSimilarNotificationsAndPostingToTheCenterDoesNot() {
        onMainAndAnotherThread {
            let center = NotificationCenter()
            let timeline = PostingTimeline()
            timeline.observe(center)
            let queue = PostingQueue(center: center)
            queue.put("a", .asap)
            center.post(name: Notification.Name("a"), object: nil)
            XCTAssertEqual(queue.counters.waiting, 1)
            queue.put("a", .now, on: .onName)
            XCTAssertEqual(queue.counters.waiting, 0)
            queue.put("end", .whenIdle)
            XCTAssertTrue(RunLoop.runCurrent { timeline.has("end") })
            XCTAssertEqual(timeline.entries, ["a", "a", "end"])
        }
    }
}
