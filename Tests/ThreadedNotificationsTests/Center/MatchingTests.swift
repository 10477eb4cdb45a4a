import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("matching")

/// The observers that match a notification, by name and object.
final class MatchingTests: XCTestCase {
    /// Equal to all others of its class.
    private final class Same: Hashable {
        static func == (one: Same, other: Same) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    private struct Colliding: Hashable {
        var number: Int
        func hash(into hasher: inout Hasher) {}
    }

    private struct NotHashable {}

    func testObjectsMatchByIdentityAndValuesByEqualityAndNilMatchesAny() {
        let center = ThreadedNotificationCenter()
        let (one, other, string) = (Same(), Same(), NSMutableString(string: "a"))
        let handled = Locked<[String]>([])
        let tokens: [ObserverToken] = [
            ("any", nil), ("one", one), ("string", string), ("text", "text" as Any), ("three", 3), ("pair", [1, 2]),
            ("colliding", Colliding(number: 1)), ("nan", Double.nan), ("hash", one.hashValue),
        ].map { (name, object: Any?) in
            center.addObserver(forName: posted, object: object, on: .postingThread) { _ in
                handled.withLock { $0.append(name) }
            }
        }
        let cases: [(object: Any?, observers: [String])] = [
            (nil, ["any"]), (one, ["any", "one"]), (one as any Hashable, ["any", "one"]),
            (other, ["any"]),  // Equal, but another object.
            (string, ["any", "string"]), (NSMutableString(string: "a"), ["any"]),
            (String("txet".reversed()), ["any", "text"]), (3, ["any", "three"]), ("3", ["any"]),
            ([1, 2], ["any", "pair"]), (Colliding(number: 1), ["any", "colliding"]), (Colliding(number: 2), ["any"]),
            (Double.nan, ["any"]), (NotHashable(), ["any"]), (one.hashValue, ["any", "hash"]),
        ]
        for (object, observers) in cases {
            handled.withLock { $0 = [] }
            center.post(name: posted, object: object)
            XCTAssertEqual(handled.withLock { $0 }, observers, "\(object as Any)")
        }
        withExtendedLifetime(tokens) {}
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
}
