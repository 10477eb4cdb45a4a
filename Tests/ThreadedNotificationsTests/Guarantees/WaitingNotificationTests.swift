import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in WaitingNotificationTests")

private func number(_ value: Int) -> Notification { Notification(name: posted, object: value) }

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// Guarantee 9: a notification waits until the thread runs its run loop in a common mode.
final class WaitingNotificationTests: XCTestCase {
    func testANotificationWaitsWhileTheRunLoopRunsInAModeThatIsNotCommon() throws {
        let center = ThreadedNotificationCenter()
        let modal = RunLoop.Mode("modal")
        let handled = Locked<[Int]>([])
        let token = center.addObserver(forName: posted, on: .main, transform: number(of:)) { value in
            handled.withLock { $0.append(value) }
        }
        Thread.posting(1) { _ = center.post(number(1)) }.wait()
        _ = RunLoop.current.run(mode: modal, before: Date())
        XCTAssertEqual(handled.withLock { $0 }, [])
        XCTAssertEqual(center.post(number(2)), DeliveryCounters(waiting: 1))
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, [1, 2])
        XCTAssertEqual(center.post(number(3)), DeliveryCounters(delivered: 1))
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 3))
    }

    func testAModeThatIsMadeCommonServesTheThreadsObservers() {
        let modal = RunLoop.Mode("modal in WaitingNotificationTests")
        Thread.posting(1) {
            let center = ThreadedNotificationCenter()
            let token = center.addObserver(forName: posted, on: CurrentThread.current.targetThread) { _ in }
            // A mode without input does not run.
            RunLoop.addTimer(after: 3600, in: modal) {}
            Thread.posting(1) { center.post(name: posted) }.wait()
            RunLoop.pollCurrent(in: modal)
            XCTAssertEqual(token.counters, DeliveryCounters(waiting: 1))
            RunLoop.makeCommonInCurrent(modal)
            RunLoop.pollCurrent(in: modal)
            XCTAssertEqual(token.counters, DeliveryCounters(delivered: 1))
            XCTAssertEqual(center.post(name: posted), DeliveryCounters(delivered: 1))
        }.wait()
    }
}
