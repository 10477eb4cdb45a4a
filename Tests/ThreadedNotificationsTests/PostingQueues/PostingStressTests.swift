import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Four threads enqueue to and dequeue from three queues of two running threads.
final class PostingStressTests: XCTestCase {
    /// 1,000,000 with `STRESS=1`; fewer otherwise, also with the thread sanitizer.
    private let notifications = TestRounds.rounds(8_000, stress: 1_000_000)

    /// The poster of a notification, its posting style, and its index among the notifications of both.
    private struct Mark: Hashable {
        var poster: Int
        var style: UInt
        var index: Int
    }

    /// Checks that each is posted once, on its queue's thread, and after earlier ones of the same poster and style.
    private final class Checker: PostingCenter {
        private struct State {
            var last: [Mark: Int] = [:]
            var faults: [String] = []
            var posted = 0
        }

        private let thread: RunLoopThread
        private let state = Locked(State())

        init(_ thread: RunLoopThread) {
            self.thread = thread
        }

        var faults: [String] { state.withLock { Array($0.faults.prefix(5)) } }
        var posted: Int { state.withLock { $0.posted } }

        func post(_ queued: QueuedNotification) {
            let isThere = thread.isCurrent
            guard let mark = queued.notification.userInfo?["mark"] as? Mark else { return }
            state.withLock { state in
                state.posted += 1
                if !isThere { state.faults.append("\(mark) on a wrong thread") }
                let line = Mark(poster: mark.poster, style: mark.style, index: 0)
                if let before = state.last[line], before >= mark.index {
                    state.faults.append("\(mark) after \(before)")
                }
                state.last[line] = mark.index
            }
        }
    }

    func testTheCountersOfEachQueueAddUpAndNoNotificationIsLostOrReordered() throws {
        let workers = [try RunLoopThread.started("one"), try RunLoopThread.started("other")]
        let checkers = workers.map { Checker($0) }
        let queues = [0, 0, 1].map { PostingQueue(center: checkers[$0], on: workers[$0]) }
        let (posters, perPoster) = (4, notifications / 4)
        let objects = (0..<3).map { _ in PostingTimeline() }
        let removed = Locked((coalesced: 0, dequeued: 0))
        let numbers = Locked(0)
        let posting = Thread.posting(posters) {
            let poster = numbers.withLock { number in
                number += 1
                return number
            }
            var generator = SeededGenerator(seed: UInt64(poster))
            var (coalesced, dequeued) = (0, 0)
            func notification(_ mark: Mark) -> Notification {
                let sender: Any? =
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: nil
                    case 1: objects.randomElement(using: &generator)
                    case 2: "\(Int.random(in: 0..<4, using: &generator))"
                    default: Int.random(in: 0..<4, using: &generator)
                    }
                let name = Notification.Name("\(Int.random(in: 0..<8, using: &generator))")
                return Notification(name: name, object: sender, userInfo: ["mark": mark])
            }
            let masks: [NotificationQueue.NotificationCoalescing] = [[], [], .onName, .onSender, [.onName, .onSender]]
            for index in 0..<perPoster {
                let style = NotificationQueue.PostingStyle.all.randomElement(using: &generator)!.style
                let report = queues.randomElement(using: &generator)!.enqueue(
                    notification(Mark(poster: poster, style: style.rawValue, index: index)), postingStyle: style,
                    coalesceMask: masks.randomElement(using: &generator)!,
                    keeping: Bool.random(using: &generator) ? .latest : .earliest,
                    forModes: [nil, [.common], [.init("own"), .default]].randomElement(using: &generator)!)
                coalesced += report.removed
                if generator.once(in: 20) {
                    dequeued += queues.randomElement(using: &generator)!.dequeueNotifications(
                        matching: notification(Mark(poster: 0, style: 0, index: 0)),
                        coalesceMask: masks.randomElement(using: &generator)!)
                }
            }
            removed.withLock { [coalesced, dequeued] in
                $0.coalesced += coalesced
                $0.dequeued += dequeued
            }
        }
        XCTAssertEqual(posting.wait(timeout: .now() + .seconds(600)), .success)
        // Idle notifications come last, so when this one is posted nothing is left.
        for worker in workers {
            let timeline = PostingTimeline()
            let isOver = DispatchSemaphore(value: 0)
            timeline.when("over") { isOver.signal() }
            PostingQueue(center: timeline, on: worker).put("over", .whenIdle)
            XCTAssertEqual(isOver.wait(timeout: .now() + .seconds(600)), .success)
            try worker.stopAndWait()
        }

        for checker in checkers { XCTAssertEqual(checker.faults, []) }
        let counts = queues.map(\.counters)
        for counts in counts {
            XCTAssertEqual(counts.waiting, 0)
            XCTAssertEqual(counts.targetGone, 0)
            XCTAssertEqual(counts.total, counts.delivered + counts.coalesced + counts.cancelled)
        }
        XCTAssertEqual(counts.reduce(0) { $0 + $1.total }, posters * perPoster)
        XCTAssertEqual(counts[0].delivered + counts[1].delivered, checkers[0].posted)
        XCTAssertEqual(counts[2].delivered, checkers[1].posted)
        XCTAssertEqual(counts.reduce(0) { $0 + $1.cancelled }, removed.withLock { $0.dequeued })
        XCTAssertGreaterThanOrEqual(counts.reduce(0) { $0 + $1.coalesced }, removed.withLock { $0.coalesced })
    }
}
