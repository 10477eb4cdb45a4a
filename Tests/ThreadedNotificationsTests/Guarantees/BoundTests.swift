import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in BoundTests")

/// Guarantee 12: an overflow policy bounds what waits for one observer.
final class BoundTests: XCTestCase {
    func testEachOverflowPolicyBoundsAndCountsWhatWaits() throws {
        let center = ThreadedNotificationCenter()
        func run(_ policy: OverflowPolicy) throws -> (
            handled: [Int], counters: DeliveryCounters, reports: [DeliveryCounters]
        ) {
            let worker = try RunLoopThread.started("worker")
            let handled = Locked<[Int]>([])
            let token = center.addObserver(
                forName: posted, on: worker, options: ObserverOptions(overflow: policy),
                transform: { ($0.userInfo?["number"] as? Int) },
                using: { value in handled.withLock { $0.append(value) } })
            let resume = try worker.keptBusy()
            let reports = (1...6).map { value in
                center.post(name: posted, object: value % 2, userInfo: ["number": value])
            }
            resume.signal()
            try worker.stopAndWait()
            return (handled.withLock { $0 }, token.counters, reports)
        }
        let oldest = try run(.dropOldest(capacity: 2))
        XCTAssertEqual(oldest.handled, [5, 6])
        XCTAssertEqual(oldest.counters, .init(delivered: 2, dropped: 4))
        let newest = try run(.dropNewest(capacity: 2))
        XCTAssertEqual(newest.handled, [1, 2])
        XCTAssertEqual(newest.counters, .init(delivered: 2, dropped: 4))
        XCTAssertEqual(newest.reports.map(\.dropped), [0, 0, 1, 1, 1, 1])
        let latest = try run(.keepLatest)
        XCTAssertEqual(latest.handled, [5, 6])
        XCTAssertEqual(latest.counters, .init(delivered: 2, coalesced: 4))
        let refused = try run(.refuse(capacity: 2))
        XCTAssertEqual(refused.handled, [1, 2])
        XCTAssertEqual(refused.reports.map(\.refused), [0, 0, 1, 1, 1, 1])
        let unbounded = try run(.unbounded)
        XCTAssertEqual(unbounded.handled, [1, 2, 3, 4, 5, 6])
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
