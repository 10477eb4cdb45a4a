import Foundation
import SharedTesting
import Synchronization
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in PostNeverWaitsTests")

/// Guarantee 3: a post for another thread does not wait.
final class PostNeverWaitsTests: XCTestCase {
    func testAPostOnAnotherThreadDoesNotWait() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let resume = DispatchSemaphore(value: 0)
        let handled = Atomic<Int>(0)
        let token = center.addObserver(forName: posted, on: worker) { _ in
            resume.wait()
            handled.add(1, ordering: .relaxed)
        }
        // The handler waits until all is posted: the test hangs if a post waits for the handler.
        for _ in 0..<10 { XCTAssertEqual(center.post(name: posted).waiting, 1) }
        for _ in 0..<10 { resume.signal() }
        try worker.stopAndWait()
        XCTAssertEqual(handled.load(ordering: .relaxed), 10)
        XCTAssertEqual(token.counters, .init(delivered: 10))
    }
}
