import ArgumentParser
import DistributedNotifications
import XCTest

@testable import notify_demo

/// Entries of userInfo on the command line.
final class UserInfoEntryTests: XCTestCase {
    func testTheValueAfterAnEqualsSignIsText() throws {
        for (entry, key, value) in [
            ("a=b", "a", "b"), ("a=", "a", ""), ("a=3", "a", "3"), ("a=b=c", "a", "b=c"), ("a b= c ", "a b", " c "),
            ("a=b:=c", "a", "b:=c"), ("a:b=c", "a:b", "c"), ("é=ü", "é", "ü"),
        ] {
            XCTAssertEqual(try UserInfoOptions.parse(["--user-info", entry]).value(), [key: .string(value)], entry)
        }
    }

    func testTheValueAfterColonEqualsIsJSONWhere3IsAnIntegerAnd3Point0AReal() throws {
        for (text, value) in [
            ("3", .integer(3)), ("9223372036854775807", .integer(.max)), ("0", .integer(0)), ("3.0", .real(3)),
            ("-1.5e2", .real(-150)), ("1E1", .real(10)), ("true", .boolean(true)), (" false ", .boolean(false)),
            (#""\u00e9\n\"""#, .string("é\n\"")), ("[]", .array([])), ("{}", .dictionary([:])),
            ("[1, [2.5], \"x\"]", .array([.integer(1), .array([.real(2.5)]), .string("x")])),
            (#"{"a": {"b": [true, {}]}}"#, ["a": ["b": [true, [:]]]]),
            (
                #"{"a": {"a": ":\""}, "b": [{"a": 1}, {"a": 2}], "c": "c"}"#,
                ["a": ["a": ":\""], "b": [["a": 1], ["a": 2]], "c": "c"]
            ),
        ] as [(String, PropertyListValue)] {
            XCTAssertEqual(try UserInfoOptions.parse(["--user-info", "k:=\(text)"]).value(), ["k": value], text)
        }
    }

    func testAMalformedEntryIsRefusedWithTheReason() {
        for (entry, reason) in [
            ("", "has no \"=\""), ("a", "has no \"=\""), ("=a", "has no key"), (":=3", "has no key"),
            ("a:=", "is not JSON"), ("a:=x", "is not JSON"), ("a:=3 4", "is not JSON"), ("a:=[1", "is not JSON"),
            ("a:={1:2}", "is not JSON"), ("a:=\"b", "is not JSON"), ("a:=01", "is not JSON"),
            ("a:=9223372036854775808", "an integer is from"), ("a:=1e999", "is not JSON"), ("a:=null", "null"),
            ("a:=[null]", "null"),
            ("a:=\(String(repeating: "[", count: 100_000))", "is not JSON"),
            ("a:=\(String(repeating: "[", count: 70))\(String(repeating: "]", count: 70))", "nested"),
        ] {
            XCTAssertThrowsError(try UserInfoOptions.parse(["--user-info", entry]).value(), entry) { error in
                let message = UserInfoOptions.message(for: error)
                XCTAssertTrue(message.contains(reason), "\(entry.prefix(40)): \(message)")
            }
        }
    }

    func testADuplicateKeyIsRefused() throws {
        XCTAssertEqual(
            try UserInfoOptions.parse(["--user-info", "a=1", "b:=2"]).value(), ["a": .string("1"), "b": .integer(2)])
        XCTAssertThrowsError(try UserInfoOptions.parse(["--user-info", "a=1", "a=1"]))
    }
}
