import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in ObserverOrderTests")

/// Guarantee 5: the observers of one post are called together, in the order in which they were added.
final class ObserverOrderTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testObserversOfOneThreadAreCalledInTheOrderInWhichTheyWereAdded() throws {
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        let worker = try RunLoopThread.started("worker")
        let called = Locked<[Int]>([])
        let object = NSObject()
        // Three kinds of observer, which are found in different lists: of name and object, of the name, of any name.
        let tokens = (0..<60).map { index in
            center.addObserver(
                forName: index % 3 == 2 ? nil : posted, object: index % 3 == 0 ? object : nil, on: worker
            ) { _ in called.withLock { $0.append(index) } }
        }
        center.post(name: posted, object: object)
        try worker.performAndWait(timeout: timeout) {}
        XCTAssertEqual(called.withLock { $0 }, Array(0..<60))

        called.withLock { $0 = [] }
        foundation.post(name: posted, object: object)
        try worker.performAndWait(timeout: timeout) {}
        XCTAssertEqual(called.withLock { $0.filter { $0 % 3 != 2 } }, (0..<60).filter { $0 % 3 != 2 })
        XCTAssertEqual(called.withLock { $0.filter { $0 % 3 == 2 } }, (0..<60).filter { $0 % 3 == 2 })
        XCTAssertEqual(tokens.map(\.counters.delivered), Array(repeating: 2, count: 60))

        called.withLock { $0 = [] }
        for index in 0..<60 where index % 4 == 0 { tokens[index].cancel() }
        center.post(name: posted)
        try worker.stopAndWait()
        XCTAssertEqual(called.withLock { $0 }, (0..<60).filter { $0 % 4 != 0 && $0 % 3 != 0 })
    }

    func testAnObserverAddedOrRemovedDuringAPostDoesNotGetIt() {
        let center = ThreadedNotificationCenter()
        let tokens = Locked<[ObserverToken]>([])
        let first = center.addObserver(forName: posted, on: .postingThread) { _ in
            let added = center.addObserver(forName: posted, on: .postingThread) { _ in }
            tokens.withLock {
                $0[0].cancel()
                $0.append(added)
            }
        }
        let second = center.addObserver(forName: posted, on: .postingThread) { _ in }
        tokens.withLock { $0.append(second) }
        XCTAssertEqual(center.post(name: posted), DeliveryCounters(delivered: 1, cancelled: 1))
        XCTAssertEqual(second.counters.delivered, 0)
        XCTAssertEqual(tokens.withLock { $0[1].counters.total }, 0)
        first.cancel()
    }
}
