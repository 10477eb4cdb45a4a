import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in BoundTests")

/// Guarantee 12: an overflow policy bounds what waits for one observer.
final class BoundTests: XCTestCase {
    func testEachOverflowPolicyBoundsAndCountsWhatWaits() throws {
        let cases: [(OverflowPolicy, handled: [Int], counters: DeliveryCounters, reported: [Int])] = [
            (.dropOldest(capacity: 2), [5, 6], .init(delivered: 2, dropped: 4), [0, 0, 0, 0, 0, 0]),
            (.dropNewest(capacity: 2), [1, 2], .init(delivered: 2, dropped: 4), [0, 0, 1, 1, 1, 1]),
            (.keepLatest, [5, 6], .init(delivered: 2, coalesced: 4), [0, 0, 0, 0, 0, 0]),
            (.refuse(capacity: 2), [1, 2], .init(delivered: 2, refused: 4), [0, 0, 1, 1, 1, 1]),
            (.unbounded, [1, 2, 3, 4, 5, 6], .init(delivered: 6), [0, 0, 0, 0, 0, 0]),
        ]
        for (policy, expected, counters, reported) in cases {
            let center = ThreadedNotificationCenter()
            let worker = try RunLoopThread.started("worker")
            let handled = Locked<[Int]>([])
            let token = center.addObserver(
                forName: posted, on: worker, options: ObserverOptions(overflow: policy),
                transform: { ($0.userInfo?["number"] as? Int) },
                using: { value in handled.withLock { $0.append(value) } })
            let resume = try worker.keptBusy()
            let reports = (1...6).map { center.post(name: posted, object: $0 % 2, userInfo: ["number": $0]) }
            resume.signal()
            try worker.stopAndWait()
            XCTAssertEqual(handled.withLock { $0 }, expected, "\(policy)")
            XCTAssertEqual(token.counters, counters, "\(policy)")
            XCTAssertEqual(reports.map { $0.waiting == 1 ? 0 : $0.dropped + $0.refused }, reported, "\(policy)")
        }
    }

    func testThePolicyKeepLatestDoesNotRetainTheNotificationsObject() throws {
        let center = ThreadedNotificationCenter()
        let released = Locked(0)
        let token = center.addObserver(
            forName: posted, on: .main, options: ObserverOptions(overflow: .keepLatest), transform: { _ in 1 },
            using: { _ in })
        Thread.posting(1) {
            for _ in 0..<3 { center.post(name: posted, object: ReleaseRecorder { released.withLock { $0 += 1 } }) }
        }.wait()
        XCTAssertEqual(released.withLock { $0 }, 3)
        RunLoop.runCurrentOnce()
        XCTAssertEqual(token.counters, .init(delivered: 3), "other objects, also at the same address")
    }
}
