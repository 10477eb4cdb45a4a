import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let (one, other) = (Notification.Name("one"), Notification.Name("other"))

/// `removeObserver`, for observers that were added as objects and for tokens.
final class RemoveObserverTests: XCTestCase {
    private final class Window {
        let center: ThreadedNotificationCenter
        var handled = 0

        init(_ center: ThreadedNotificationCenter) { self.center = center }

        /// - Returns: the observer's id.
        func observe(_ name: Notification.Name?, object: Any? = nil) -> UInt64? {
            center.addObserver(self, forName: name, object: object, on: .current) { window, _ in window.handled += 1 }
            return center.observers.last?.id
        }
    }

    /// The numbers of the observers that are left.
    private func left(_ center: ThreadedNotificationCenter, of observers: [UInt64?]) -> [Int] {
        let ids = center.observers.map(\.id)
        return observers.indices.filter { observers[$0].map(ids.contains) == true }
    }

    func testAnObjectIsRemovedWithAllItsObserversAndNoOtherIs() {
        let center = ThreadedNotificationCenter()
        let (window, neighbour) = (Window(center), Window(center))
        let token = center.addObserver(forName: one, on: .current) { _ in }
        let observers = [
            window.observe(one), window.observe(other), window.observe(nil), neighbour.observe(one), token.id,
        ]
        Thread.posting(1) { center.post(name: one) }.wait()
        center.removeObserver(window)
        center.removeObserver(window)
        center.removeObserver(NSObject())
        XCTAssertEqual(left(center, of: observers), [3, 4])
        XCTAssertEqual(center.post(name: one).total, 2)
        RunLoop.runCurrentOnce()
        XCTAssertEqual([window, neighbour].map(\.handled), [0, 2], "what waits is not delivered")
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 2))
        XCTAssertEqual(left(center, of: [window.observe(one)]), [0], "it can be added again")
    }

    func testNameAndObjectSelectTheObserversAndNilSelectsAll() {
        let (document, draft) = (NSObject(), NSObject())
        let cases: [(name: Notification.Name?, object: Any?, left: [Int])] = [
            (nil, nil, []), (one, nil, [2, 3, 4]), (other, nil, [0, 1, 4, 5, 6]), (nil, document, [0, 2, 4, 5, 6]),
            (one, document, [0, 2, 3, 4, 5, 6]), (nil, draft, [0, 1, 2, 3, 4, 6]), (nil, "text", [0, 1, 2, 3, 4, 5]),
            (other, draft, [0, 1, 2, 3, 4, 5, 6]),
        ]
        for (name, object, expected) in cases {
            let center = ThreadedNotificationCenter()
            let window = Window(center)
            let tokens = [
                window.observe(one), window.observe(one, object: document), window.observe(other),
                window.observe(other, object: document), window.observe(nil), window.observe(one, object: draft),
                window.observe(one, object: "text"),
            ]
            center.removeObserver(window, name: name, object: object)
            XCTAssertEqual(left(center, of: tokens), expected, "\(name as Any) \(object as Any)")
        }
    }

    func testATokenIsRemovedFromItsOwnCenterOnly() {
        let (center, stranger) = (ThreadedNotificationCenter(), ThreadedNotificationCenter())
        let tokens = (0..<3).map { _ in center.addObserver(forName: one, on: .postingThread) { _ in } }
        stranger.removeObserver(tokens[0])
        stranger.removeObserver(tokens[0] as AnyObject)
        XCTAssertEqual(left(center, of: tokens.map(\.id)), [0, 1, 2])
        center.removeObserver(tokens[0])
        center.removeObserver(tokens[1] as AnyObject)
        center.removeObserver(tokens[2] as AnyObject, name: other)
        XCTAssertEqual(left(center, of: tokens.map(\.id)), [2])
    }

    func testADeinitMayRemoveItsObject() {
        final class Closing {
            let center: ThreadedNotificationCenter

            init(_ center: ThreadedNotificationCenter) { self.center = center }

            deinit {
                center.removeObserver(self, name: one, object: self)
                center.removeObserver(self)
            }
        }
        let center = ThreadedNotificationCenter()
        var object: Closing? = Closing(center)
        for sender in [nil, object] {
            center.addObserver(object!, forName: one, object: sender, on: .current) { _, _ in XCTFail("called") }
        }
        Thread.posting(1) { center.post(name: one) }.wait()
        object = nil
        XCTAssertEqual(center.observers.count, 0)
        RunLoop.runCurrentOnce()
    }
}
