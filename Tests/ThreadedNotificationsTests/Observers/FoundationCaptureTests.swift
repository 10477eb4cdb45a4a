import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("captured")

final class FoundationCaptureTests: XCTestCase {
    func testTheDefaultCenterCapturesFromFoundationsDefault() {
        let token = ThreadedNotificationCenter.default.addObserver(forName: posted, on: .postingThread) { _ in }
        NotificationCenter.default.post(name: posted, object: nil)
        ThreadedNotificationCenter.default.post(name: posted)
        XCTAssertEqual(token.counters.delivered, 2)
    }

    func testOneFoundationObserverForEachNameIsRegisteredAndRemovedWithTheLast() {
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        var tokens = (0..<300).map { index in
            center.addObserver(
                forName: index % 3 == 2 ? nil : Notification.Name("name \(index % 3)"), on: .postingThread
            ) { _ in }
        }
        XCTAssertEqual(center.registrations.observers, 300)
        XCTAssertEqual(center.registrations.captured, 3)
        foundation.post(name: Notification.Name("name 0"), object: nil)
        XCTAssertEqual(tokens.reduce(0) { $0 + $1.counters.delivered }, 200, "each observer gets it once")
        tokens.removeAll()
        XCTAssertEqual(center.registrations.observers, 0)
        XCTAssertEqual(center.registrations.captured, 0)
    }

    func testATokenMayBeReleasedWhileFoundationReleasesABlock() {
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        var token: ObserverToken? = center.addObserver(forName: posted, on: .postingThread) { _ in }
        let block = foundation.addObserver(forName: Notification.Name("other"), object: nil, queue: nil) {
            [token] _ in withExtendedLifetime(token) {}
        }
        token = nil
        // Foundation holds its lock while it releases the block.
        foundation.removeObserver(block)
        XCTAssertEqual(center.registrations.observers, 0)
        XCTAssertEqual(center.registrations.captured, 0)
    }

    func testADeallocatedCenterLeavesNothingWithFoundation() {
        let foundation = NotificationCenter()
        let released = expectation(description: "released")
        do {
            let held = ReleaseRecorder { released.fulfill() }
            let center = ThreadedNotificationCenter(capturing: foundation)
            let token = center.addObserver(forName: posted, on: .postingThread) { _ in
                withExtendedLifetime(held) {}
            }
            foundation.post(name: posted, object: nil)
            XCTAssertEqual(token.counters.delivered, 1)
        }
        wait(for: [released], timeout: TestTimeout.seconds)
    }
}
