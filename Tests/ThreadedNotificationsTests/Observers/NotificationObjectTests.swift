import Foundation
import XCTest

@testable import ThreadedNotifications

final class NotificationObjectTests: XCTestCase {
    /// Objects that are equal but not identical.
    private final class Equal: Hashable {
        let value: Int
        init(_ value: Int) { self.value = value }
        static func == (one: Equal, other: Equal) -> Bool { one.value == other.value }
        func hash(into hasher: inout Hasher) { hasher.combine(value) }
    }

    private struct Value: Hashable {
        var number: Int
        var text = "text"
    }

    private struct Incomparable {
        var number = 1
    }

    private struct Colliding: Hashable {
        var number: Int
        func hash(into hasher: inout Hasher) {}
    }

    private enum Choice { case one, other }

    private func isSame(_ one: Any?, _ other: Any?) -> Bool {
        let (one, other) = (NotificationObject(one), NotificationObject(other))
        let isSame = one.isSame(as: other)
        XCTAssertEqual(isSame, other.isSame(as: one))
        if isSame { XCTAssertEqual(one.hash, other.hash) }
        return isSame
    }

    private func matches(_ wanted: Any?, _ posted: Any?) -> Bool {
        ObjectFilter(NotificationObject(wanted)).matches(NotificationObject(posted))
    }

    func testObjectsAreComparedByIdentityEvenIfTheyAreHashable() {
        let (one, other) = (Equal(1), Equal(1))
        XCTAssertEqual(one, other)
        XCTAssertTrue(isSame(one, one))
        XCTAssertFalse(isSame(one, other))
        XCTAssertTrue(matches(one, one))
        XCTAssertFalse(matches(one, other))
        let (string, copy) = (NSMutableString(string: "a"), NSMutableString(string: "a"))
        XCTAssertEqual(string, copy)
        XCTAssertTrue(isSame(string, string))
        XCTAssertFalse(isSame(string, copy))
        XCTAssertFalse(matches(string, copy))
        XCTAssertNotNil(NotificationObject(one).hash)
        XCTAssertNotEqual(NotificationObject(one).hash, NotificationObject(other).hash)
        // An optional or an existential holds the same object.
        let optional: Equal? = one
        let existential: any Hashable = one
        XCTAssertTrue(isSame(optional, one))
        XCTAssertTrue(isSame(existential, one))
    }

    func testHashableValuesAreComparedByEqualityAndNeverEqualAnObject() {
        XCTAssertTrue(isSame(Value(number: 1), Value(number: 1)))
        XCTAssertFalse(isSame(Value(number: 1), Value(number: 2)))
        XCTAssertTrue(isSame("ab", ["a", "b"].joined()))
        XCTAssertTrue(isSame(Choice.one, Choice.one))
        XCTAssertFalse(isSame(Choice.one, Choice.other))
        XCTAssertFalse(isSame("1", 1))
        XCTAssertFalse(isSame(Value(number: 1), Equal(1)))
        XCTAssertTrue(matches(Value(number: 1), Value(number: 1)))
        XCTAssertFalse(matches(Value(number: 1), Value(number: 2)))
        XCTAssertFalse(matches(Value(number: 1), Equal(1)))
        XCTAssertFalse(matches(Equal(1), Value(number: 1)))
        XCTAssertFalse(isSame(Double.nan, Double.nan))
    }

    func testAFilterOfNilMatchesAnyObjectAndNoOtherFilterMatchesNil() {
        XCTAssertTrue(isSame(nil, nil))
        XCTAssertFalse(isSame(nil, 1))
        XCTAssertFalse(isSame(nil, Equal(1)))
        XCTAssertFalse(isSame(nil, Incomparable()))
        XCTAssertNil(NotificationObject(nil).hash)
        XCTAssertFalse(NotificationObject(nil).isIncomparable)
        for posted: Any? in [nil, 1, Equal(1), Incomparable()] { XCTAssertTrue(matches(nil, posted)) }
        XCTAssertFalse(matches(1, nil))
        XCTAssertFalse(matches(Equal(1), nil))
    }

    func testAValueThatIsNeitherOfAClassNorHashableEqualsNothingNotEvenItself() {
        let posted = Incomparable()
        XCTAssertTrue(NotificationObject(posted).isIncomparable)
        XCTAssertNil(NotificationObject(posted).hash)
        XCTAssertFalse(isSame(posted, posted))
        XCTAssertFalse(matches(1, posted))
        XCTAssertFalse(matches(Equal(1), posted))
        XCTAssertFalse(NotificationObject(1).isIncomparable)
        XCTAssertFalse(NotificationObject(Equal(1)).isIncomparable)
    }

    func testValuesWithEqualHashesNeedNotBeEqualAndAnObjectDoesNotEqualItsHash() {
        XCTAssertEqual(NotificationObject(Colliding(number: 1)).hash, NotificationObject(Colliding(number: 2)).hash)
        XCTAssertFalse(isSame(Colliding(number: 1), Colliding(number: 2)))
        XCTAssertFalse(matches(Colliding(number: 1), Colliding(number: 2)))
        XCTAssertTrue(matches(Colliding(number: 1), Colliding(number: 1)))
        let object = Equal(1)
        let hash = NotificationObject(object).hash
        XCTAssertNotNil(hash)
        XCTAssertFalse(matches(object, hash))
        XCTAssertFalse(matches(hash, object))
    }
}

extension NotificationObject {
    fileprivate var isIncomparable: Bool { if case .incomparable = self { true } else { false } }
}
