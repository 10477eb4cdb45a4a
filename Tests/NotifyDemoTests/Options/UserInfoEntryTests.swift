import ArgumentParser
import DistributedNotifications
import XCTest

@testable import notify_demo

/// Entries of userInfo on the command line.
final class UserInfoEntryTests: XCTestCase {
    func testAValueIsTextAfterAnEqualsSignAndJSONAfterColonEqualsWhere3IsAnIntegerAnd3Point0AReal() throws {
        for (entry, key, value) in [
            ("a=b", "a", "b"), ("a=", "a", ""), ("a=3", "a", "3"), ("a=b=c", "a", "b=c"), ("a b= c ", "a b", " c "),
            ("a=b:=c", "a", "b:=c"), ("a:b=c", "a:b", "c"), ("é=ü\n", "é", "ü\n"), ("k:=3", "k", .integer(3)),
            ("k:=9223372036854775807", "k", .integer(.max)), ("k:=3.0", "k", .real(3)), ("k:=-1.5e2", "k", .real(-150)),
            ("k:= false ", "k", .boolean(false)), (#"k:="\u00e9\n\"""#, "k", "é\n\""), ("k:={}", "k", .dictionary([:])),
            ("k:=[1, [2.5], \"x\"]", "k", .array([.integer(1), .array([.real(2.5)]), "x"])),
            (#"k:={"a": {"b": [true, {}]}}"#, "k", ["a": ["b": [true, [:]]]]),
        ] as [(String, String, PropertyListValue)] {
            XCTAssertEqual(try Post.parse(["x", "--user-info", entry]).propertyList(), [key: value], entry)
        }
    }

    func testAMalformedEntryIsRefusedWithTheReason() {
        for (entry, reason) in [
            ("", "has no \"=\""), ("a", "has no \"=\""), ("=a", "has no key"), (":=3", "has no key"),
            ("a:=x", "is not JSON"), ("a:=3 4", "is not JSON"), ("a:=[1", "is not JSON"), ("a:=01", "is not JSON"),
            ("a:=9223372036854775808", "an integer is from"), ("a:=1e999", "is not JSON"), ("a:=[null]", "null"),
            ("a:=\(String(repeating: "[", count: 100_000))", "is not JSON"),
            ("a:=\(String(repeating: "[", count: 70))\(String(repeating: "]", count: 70))", "nested"),
        ] {
            XCTAssertThrowsError(try Post.parse(["x", "--user-info", entry]).propertyList(), entry) { error in
                let message = Post.message(for: error)
                XCTAssertTrue(message.contains(reason), "\(entry.prefix(40)): \(message)")
            }
        }
    }
}
