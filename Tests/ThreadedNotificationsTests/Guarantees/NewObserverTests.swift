import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in NewObserverTests")

private func number(_ value: Int) -> Notification { Notification(name: posted, object: value) }

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// Guarantee 7: an observer gets nothing that was posted before it was added.
final class NewObserverTests: XCTestCase {
    func testANewObserverNeverGetsOlderNotifications() throws {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[String]>([])
        @Sendable func observe(_ name: String) -> ObserverToken {
            center.addObserver(forName: posted, on: .current, transform: number(of:)) { value in
                handled.withLock { $0.append("\(name) \(value)") }
            }
        }
        let old = observe("old")
        let poster = Thread.posting(1) { _ = center.post(number(1)) }
        poster.wait()
        old.cancel()
        let new = observe("new")
        Thread.posting(1) { _ = center.post(number(2)) }.wait()
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, ["new 2"])
        XCTAssertEqual(old.counters, .init(cancelled: 1))
        XCTAssertEqual(new.counters, .init(delivered: 1))
    }
}
