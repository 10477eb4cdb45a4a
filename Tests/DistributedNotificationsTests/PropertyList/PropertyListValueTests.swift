import DistributedNotifications
import Foundation
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

    func testItIsEncodedAsJSONWithTextForWhatJSONLacksAndDecodedFromJSON() throws {
        XCTAssertEqual(
            PropertyListValue.dictionary(userInfo).description,
            #"{"count":-3,"isFinal":true,"list":[1,"two",[],{}],"#
                + #""map":{"data":"AA//","when":"2016-02-13T22:05:12Z"},"ratio":2.5,"text":"größe \"\n"}"#)
        XCTAssertEqual(
            PropertyListValue.array([.real(.nan), .real(.infinity), .real(-.infinity)]).description,
            #"["nan","inf","-inf"]"#)
        XCTAssertEqual(
            try JSONDecoder().decode(PropertyListValue.self, from: Data(#"{"a":[1,-2.5,true,"x",{}]}"#.utf8)),
            ["a": [1, -2.5, true, "x", [:]]])
    }

    func testTheConversionToFoundationsTypesAndBackReturnsTheSameValue() throws {
        var random = RandomPropertyList(seed: 3)
        for _ in 0..<500 {
            let value = PropertyListValue.dictionary(random.userInfo())
            let object = try XCTUnwrap(value.foundationObject as? [String: Any])
            XCTAssertEqual(try PropertyListValue(object), value)
            XCTAssertEqual(try PropertyListValue(NSDictionary(dictionary: object)), value)
        }
    }

    func testValuesOfSwiftAndOfFoundationKeepTheirKinds() throws {
        for (object, value) in [
            (NSNumber(value: true), true), (NSNumber(value: false), false), (NSNumber(value: Int8(1)), 1),
            (NSNumber(value: 0), 0), (NSNumber(value: 1.0), 1.0), (NSNumber(value: Float(0.5)), 0.5),
            (NSNumber(value: UInt64(7)), 7), (NSArray(array: [NSNumber(value: true)]), .array([true])), (true, true),
            (UInt8(1), 1), (Float(0.5), 0.5), (Int?.some(4) as Any, 4), ([UInt16(1)], .array([1])),
            (["a": PropertyListValue.array([1])], ["a": .array([1])]), (AnyHashable(1), 1), (AnyHashable(true), true),
            (CGFloat(1.5), 1.5),
        ] as [(Any, PropertyListValue)] { XCTAssertEqual(try PropertyListValue(object), value, "\(object)") }
    }

    func testAValueOfAnotherTypeIsRefusedWithItsPathAndType() throws {
        let large = "userInfo[0] is 9223372036854775808, and an integer is at most 9223372036854775807."
        for (object, problem) in [
            (["sizes": [1, 2, Unknown()] as [Any]], "userInfo[\"sizes\"][2] is of the type Unknown, which"),
            (["a": NSNull()], "userInfo[\"a\"] is of the type NSNull, which"),
            (["a": Int?.none as Any], "userInfo[\"a\"] is of the type Optional<Int>, which"),
            (Set([1]), "userInfo is of the type Set<Int>, which"),
            (URL(fileURLWithPath: "/"), "userInfo is of the type URL"), ([UInt64(1) << 63], large),
            ([NSNumber(value: UInt64(1) << 63)], large),
            (["a": [1: 2]], "userInfo[\"a\"] has the key 1 of the type Int, and keys are strings."),
            ((0..<10_000).reduce([]) { deep, _ in [deep] }, "[0] is nested more than 64 arrays and dictionaries deep."),
        ] as [(Any, String)] {
            let text = try XCTUnwrap(refusal(object), problem)
            XCTAssertTrue(text.contains(problem), "\(text): \(problem)")
        }
        XCTAssertNil(refusal((0..<63).reduce([] as [Any]) { deep, _ in [deep] }))
    }
}
