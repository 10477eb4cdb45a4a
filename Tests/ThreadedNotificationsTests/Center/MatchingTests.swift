import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("matching")

/// The observers that match a notification, by name and object.
final class MatchingTests: XCTestCase {
    func testObjectsMatchByIdentityAndValuesByEqualityAndNilMatchesAny() {
        let center = ThreadedNotificationCenter()
        final class Same: Hashable {
            static func == (one: Same, other: Same) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }
        let (one, other) = (Same(), Same())
        let handled = Locked<[String]>([])
        let tokens: [ObserverToken] = [
            ("any", nil), ("one", one), ("text", "text" as Any), ("three", 3), ("pair", [1, 2]),
        ].map { (name, object: Any?) in
            center.addObserver(forName: posted, object: object, on: .postingThread) { _ in
                handled.withLock { $0.append(name) }
            }
        }
        func observers(of object: Any?) -> [String] {
            handled.withLock { $0 = [] }
            center.post(name: posted, object: object)
            return handled.withLock { $0 }
        }
        struct NotHashable {}
        XCTAssertEqual(observers(of: nil), ["any"])
        XCTAssertEqual(observers(of: one), ["any", "one"])
        XCTAssertEqual(observers(of: other), ["any"], "equal, but another object")
        XCTAssertEqual(observers(of: String("txet".reversed())), ["any", "text"])
        XCTAssertEqual(observers(of: 3), ["any", "three"])
        XCTAssertEqual(observers(of: [1, 2]), ["any", "pair"])
        XCTAssertEqual(observers(of: NotHashable()), ["any"])
        XCTAssertEqual(tokens.count, 5)
    }

    func testAnObservedObjectIsNotRetainedAndAnotherAtItsAddressDoesNotMatch() {
        let center = ThreadedNotificationCenter()
        var object: NSObject? = NSObject()
        weak let weakObject = object
        let token = center.addObserver(forName: posted, object: object, on: .postingThread) { _ in }
        XCTAssertEqual(center.post(name: posted, object: object).delivered, 1)
        object = nil
        XCTAssertNil(weakObject)
        // Some of them have the address of the first.
        for _ in 0..<1000 { center.post(name: posted, object: NSObject()) }
        XCTAssertEqual(token.counters.total, 1)
    }

    func testAnObserverOfAnyNameGetsEveryNotificationAndAnObserverOfAnotherNameNone() {
        let center = ThreadedNotificationCenter()
        let any = center.addObserver(forName: nil, on: .postingThread) { _ in }
        let other = center.addObserver(forName: Notification.Name("other"), on: .postingThread) { _ in }
        center.post(name: posted)
        XCTAssertEqual(any.counters.delivered, 1)
        XCTAssertEqual(other.counters.total, 0)
    }
}
