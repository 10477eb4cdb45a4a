import DistributedNotifications
import Foundation
import SharedTesting
import XCTest

final class PropertyListValueTests: XCTestCase {
    private struct Unknown {}

    private let userInfo: [String: PropertyListValue] = [
        "text": "größe \"\n", "count": -3, "ratio": 2.5, "isFinal": true, "list": [1, "two", [], [:]],
        "map": ["when": .date(Date(timeIntervalSinceReferenceDate: 477_093_912)), "data": .data(Data([0, 15, 255]))],
    ]

    private func refusal(_ object: Any) -> String? {
        do throws(DistributedError) {
            _ = try PropertyListValue(object)
            return nil
        } catch {
            return "\(error)"
        }
    }

    func testItsDescriptionIsOneLineWithSortedKeys() {
        XCTAssertEqual(
            PropertyListValue.dictionary(userInfo).description,
            #"["count": -3, "isFinal": true, "list": [1, "two", [], [:]], "#
                + #""map": ["data": <000fff>, "when": 2016-02-13T22:05:12Z], "ratio": 2.5, "text": "größe \"\n"]"#)
        XCTAssertEqual(
            PropertyListValue.data(Data(count: 17)).description, "<00000000000000000000000000000000…, 17 bytes>")
        XCTAssertEqual(
            PropertyListValue.date(Date(timeIntervalSinceReferenceDate: .infinity)).description,
            "inf seconds after 2001")
        for (seconds, text) in [
            (0.25, "2001-01-01T00:00:00.250Z"), (-0.25, "2000-12-31T23:59:59.750Z"),
            (252_423_993_599.9999, "9999-12-31T23:59:59.999Z"),
        ] {
            XCTAssertEqual(
                PropertyListValue.date(Date(timeIntervalSinceReferenceDate: seconds)).description, text)
        }
    }

    func testItCanBeEncodedAsJSONWithTextForRealsThatJSONLacks() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        XCTAssertEqual(
            String(decoding: try encoder.encode(userInfo), as: UTF8.self),
            #"{"count":-3,"isFinal":true,"list":[1,"two",[],{}],"#
                + #""map":{"data":"AA//","when":"2016-02-13T22:05:12Z"},"ratio":2.5,"text":"größe \"\n"}"#)
        let reals: [PropertyListValue] = [.real(.nan), .real(.infinity), .real(-.infinity)]
        XCTAssertEqual(String(decoding: try encoder.encode(reals), as: UTF8.self), #"["nan","inf","-inf"]"#)
    }

    func testItConvertsEveryIntegerThatFits() {
        let count = [1, 2].count
        XCTAssertEqual(PropertyListValue(count), 2)
        XCTAssertEqual(PropertyListValue(Int.min).integerValue, .min)
        XCTAssertEqual(PropertyListValue(exactly: UInt8.max), 255)
        XCTAssertEqual(PropertyListValue(exactly: UInt64(Int64.max)), .integer(.max))
        XCTAssertNil(PropertyListValue(exactly: UInt64(Int64.max) + 1))
        XCTAssertNil(PropertyListValue(exactly: UInt64.max))
    }

    func testAccessorsReturnNilForAnotherKindKeyOrIndex() {
        let value = PropertyListValue.dictionary(userInfo)
        XCTAssertTrue(value["text"]?.stringValue == "größe \"\n" && value["count"]?.integerValue == -3)
        XCTAssertTrue(
            value["ratio"]?.realValue == 2.5 && value["count"]?.realValue == -3
                && value["isFinal"]?.booleanValue == true)
        XCTAssertTrue(value["list"]?[1] == "two" && value["list"]?.arrayValue?.count == 4)
        XCTAssertTrue(value["map"]?["when"]?.dateValue != nil && value["map"]?["data"]?.dataValue?.count == 3)
        XCTAssertEqual(value.dictionaryValue, userInfo)
        XCTAssertTrue(value["none"] == nil && value[0] == nil && value["list"]?[4] == nil && value["list"]?[-1] == nil)
        let one = PropertyListValue.integer(1)
        XCTAssertTrue(one.booleanValue == nil && one.stringValue == nil && one.dateValue == nil && one.dataValue == nil)
        XCTAssertTrue(
            PropertyListValue.integer(.max).realValue == nil && PropertyListValue.boolean(true).integerValue == nil)
        XCTAssertTrue(PropertyListValue.array([]).dictionaryValue == nil && one.arrayValue == nil)
    }

    func testTheConversionToFoundationsTypesAndBackReturnsTheSameValue() throws {
        var random = RandomPropertyList(seed: 3)
        for _ in 0..<500 {
            let value = PropertyListValue.dictionary(random.userInfo())
            XCTAssertEqual(try PropertyListValue(value.foundationObject), value)
            guard let dictionary = value.foundationObject as? [String: Any] else {
                XCTFail("no dictionary")
                continue
            }
            XCTAssertEqual(try PropertyListValue(NSDictionary(dictionary: dictionary)), value)
        }
    }

    func testNumbersOfSwiftAndOfFoundationKeepTheirKinds() throws {
        XCTAssertEqual(try PropertyListValue(NSNumber(value: true)), true)
        XCTAssertEqual(try PropertyListValue(NSNumber(value: false)), false)
        XCTAssertEqual(try PropertyListValue(NSNumber(value: Int8(1))), 1)
        XCTAssertEqual(try PropertyListValue(NSNumber(value: 0)), 0)
        XCTAssertEqual(try PropertyListValue(NSNumber(value: 1.0)), 1.0)
        XCTAssertEqual(try PropertyListValue(NSNumber(value: Float(0.5))), 0.5)
        XCTAssertEqual(try PropertyListValue(NSNumber(value: UInt64(7))), 7)
        XCTAssertEqual(try PropertyListValue(NSArray(array: [NSNumber(value: true), NSNumber(value: 1)])), [true, 1])
        XCTAssertEqual(try PropertyListValue(true as Any), true)
        XCTAssertEqual(try PropertyListValue(UInt8(1)), 1)
        XCTAssertEqual(try PropertyListValue(Float(0.5)), 0.5)
        XCTAssertEqual(try PropertyListValue(Optional(4) as Any), 4)
        XCTAssertEqual(try PropertyListValue([UInt16(1), 2]), [1, 2])
        XCTAssertEqual(try PropertyListValue("abc".dropFirst()), "bc")
        XCTAssertEqual(try PropertyListValue(["a": PropertyListValue.array([1])]), ["a": [1]])
    }

    func testAValueOfAnotherTypeIsRefusedWithItsPathAndType() throws {
        XCTAssertEqual(
            refusal(["sizes": [1, 2, Unknown()] as [Any]])?.hasPrefix(
                "userInfo[\"sizes\"][2] is of the type Unknown, which"), true)
        XCTAssertEqual(
            refusal(["a": NSNull()]),
            "userInfo[\"a\"] is null, which a property list cannot contain. Leave the key out, or use an empty string.")
        XCTAssertEqual(refusal(["a": Int?.none as Any])?.hasPrefix("userInfo[\"a\"] is null"), true)
        XCTAssertEqual(refusal(Set([1]))?.hasPrefix("userInfo is of the type Set<Int>, which"), true)
        XCTAssertEqual(refusal(URL(fileURLWithPath: "/"))?.hasPrefix("userInfo is of the type URL"), true)
        let large =
            "userInfo[0] is 9223372036854775808, and an integer is from -9223372036854775808 to 9223372036854775807. "
            + "Use a string or a real."
        XCTAssertEqual(refusal([UInt64(1) << 63]), large)
        XCTAssertEqual(refusal([NSNumber(value: UInt64(1) << 63)]), large)
        XCTAssertEqual(refusal(["a": [1: 2]]), "userInfo[\"a\"] has the key 1 of the type Int, and keys are strings.")
        XCTAssertEqual(
            refusal([Date(timeIntervalSinceReferenceDate: .nan)]), "userInfo[0] is a date outside the years 1 to 9999.")
        var deep: [Any] = []
        for _ in 0..<64 { deep = [deep] }
        XCTAssertEqual(refusal(deep)?.hasSuffix("is nested more than 64 arrays and dictionaries deep."), true)
        XCTAssertNil(refusal(deep[0]))
    }

    func testTheUserInfoOfAFoundationNotificationIsConvertedIfItsKeysAreStrings() throws {
        XCTAssertEqual(
            try [String: PropertyListValue](userInfo: ["a": 1, "b": ["c": true]]), ["a": 1, "b": ["c": true]])
        assertThrows(
            DistributedError.userInfoNotUsable(
                path: "userInfo", problem: "has the key 5 of the type Int, and keys are strings")
        ) {
            try [String: PropertyListValue](userInfo: [5: 1])
        }
    }
}
