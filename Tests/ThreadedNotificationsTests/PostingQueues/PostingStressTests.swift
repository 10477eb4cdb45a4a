import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Four threads enqueue to and dequeue from three queues of two running threads.
final class PostingStressTests: XCTestCase {
    /// 1,000,000 with `STRESS=1`; fewer otherwise, also with the thread sanitizer.
    private let notifications = TestRounds.rounds(4_000, stress: 1_000_000)

    /// Checks that each is posted once, on its queue's thread, and after earlier ones of the same poster and style.
    private final class Checker: PostingCenter {
        private struct State {
            var last: [String: Int] = [:]
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
            guard let (line, index) = queued.notification.userInfo?["mark"] as? (String, Int) else { return }
            state.withLock { state in
                state.posted += 1
                if !isThere { state.faults.append("\(line) \(index) on a wrong thread") }
                if let before = state.last[line], before >= index {
                    state.faults.append("\(line) \(index) after \(before)")
                }
                state.last[line] = index
            }
        }
    }

    func testTheCountersOfEachQueueAddUpAndNoNotificationIsLostOrReordered() throws {
        let workers = [try RunLoopThread.started("one"), try RunLoopThread.started("other")]
        let checkers = workers.map { Checker($0) }
        let queues = [0, 0, 1].map { PostingQueue(center: checkers[$0], on: workers[$0]) }
        let (posters, perPoster) = (4, notifications / 4)
        let masks: [NotificationQueue.NotificationCoalescing] = [[], [], .onName, .onSender, [.onName, .onSender]]
        let numbers = Locked(0)
        let dequeued = Locked(0)
        Thread.posting(posters) {
            let poster = numbers.withLock { number in
                number += 1
                return number
            }
            var random = SeededGenerator(seed: UInt64(poster))
            for index in 0..<perPoster {
                let (style, name) = NotificationQueue.PostingStyle.all.randomElement(using: &random)!
                let sender = RandomSender.object(RandomSender.numbers.randomElement(using: &random)!)
                let notification = Notification(
                    name: Notification.Name("\(Int.random(in: 0..<8, using: &random))"), object: sender,
                    userInfo: ["mark": ("\(poster) \(name)", index)])
                queues.randomElement(using: &random)!.enqueue(
                    notification, postingStyle: style, coalesceMask: masks.randomElement(using: &random)!,
                    keeping: Bool.random(using: &random) ? .latest : .earliest,
                    forModes: [nil, [.common], [.init("own"), .default]].randomElement(using: &random)!)
                guard random.once(in: 20) else { continue }
                let count = queues.randomElement(using: &random)!.dequeueNotifications(
                    matching: notification, coalesceMask: masks.randomElement(using: &random)!)
                dequeued.withLock { $0 += count }
            }
        }.wait()
        // Idle notifications come last, so when this one is posted nothing is left.
        for worker in workers {
            let timeline = PostingTimeline()
            let isOver = DispatchSemaphore(value: 0)
            timeline.when("over") { isOver.signal() }
            PostingQueue(center: timeline, on: worker).put("over", .whenIdle)
            isOver.wait()
            try worker.stopAndWait()
        }

        for checker in checkers { XCTAssertEqual(checker.faults, []) }
        let counts = queues.map(\.counters)
        for counts in counts {
            XCTAssertEqual(counts.total, counts.delivered + counts.coalesced + counts.cancelled)
        }
        XCTAssertEqual(counts.reduce(0) { $0 + $1.total }, posters * perPoster)
        XCTAssertEqual(counts[0].delivered + counts[1].delivered, checkers[0].posted)
        XCTAssertEqual(counts[2].delivered, checkers[1].posted)
        XCTAssertEqual(counts.reduce(0) { $0 + $1.cancelled }, dequeued.withLock { $0 })
    }
}
