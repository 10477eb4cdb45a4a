import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("bad input")

/// The results of wrong or extreme arguments.
final class BadInputTests: XCTestCase {
    func testANegativeTimeoutCountsAsZero() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let (hasBegun, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let token = center.addObserver(forName: posted, on: worker) { _ in
            hasBegun.signal()
            resume.wait()
        }
        center.post(name: posted)
        hasBegun.wait()
        assertThrows(DeliveryError.self) {
            try center.postAndWait(Notification(name: posted), timeout: .seconds(-5))
        }
        assertThrows(DeliveryError.handlerStillRunning(observer: token.id, after: .seconds(-5))) {
            try token.cancelAndWait(timeout: .seconds(-5))
        }
        assertThrows(DeliveryError.threadStillRunning(thread: "worker", after: .seconds(-5))) {
            try worker.waitUntilFinished(timeout: .seconds(-5))
        }
        resume.signal()
        resume.signal()
        try worker.stopAndWait()
        let block = try XCTUnwrap(try? TargetThread.postingThread.perform(after: .seconds(-5)) {})
        XCTAssertTrue(block.outcome == .delivered || block.outcome == .waiting)
    }

    func testTheLongestPossibleTimeoutDoesNotOverflow() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let token = center.addObserver(forName: posted, on: worker) { _ in }
        for _ in 0..<100 { center.post(name: posted) }
        try center.postAndWait(Notification(name: posted), timeout: .seconds(Int64.max))
        try worker.performAndWait(timeout: .seconds(Int64.max)) {}
        try worker.perform(after: .seconds(Int64.max)) {}.cancel()
        worker.stop()
        try worker.waitUntilFinished(timeout: .seconds(Int64.max))
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 101))
    }
}
