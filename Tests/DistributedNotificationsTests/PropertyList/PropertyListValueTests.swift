import DistributedNotifications
import Foundation
import Testing

@Suite("A property-list value")
struct PropertyListValueTests {
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

    @Test("its description is one line, with sorted keys")
    func description() {
        #expect(
            PropertyListValue.dictionary(userInfo).description
                == #"["count": -3, "isFinal": true, "list": [1, "two", [], [:]], "#
                + #""map": ["data": <000fff>, "when": 2016-02-13T22:05:12Z], "ratio": 2.5, "text": "größe \"\n"]"#)
        #expect(PropertyListValue.data(Data(count: 17)).description == "<00000000000000000000000000000000…, 17 bytes>")
        #expect(
            PropertyListValue.date(Date(timeIntervalSinceReferenceDate: .infinity)).description
                == "inf seconds after 2001")
    }

    @Test("it can be encoded as JSON, with text for reals that JSON lacks")
    func json() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(
            String(decoding: try encoder.encode(userInfo), as: UTF8.self)
                == #"{"count":-3,"isFinal":true,"list":[1,"two",[],{}],"#
                + #""map":{"data":"AA//","when":"2016-02-13T22:05:12Z"},"ratio":2.5,"text":"größe \"\n"}"#)
        let reals: [PropertyListValue] = [.real(.nan), .real(.infinity), .real(-.infinity)]
        #expect(String(decoding: try encoder.encode(reals), as: UTF8.self) == #"["nan","inf","-inf"]"#)
    }

    @Test("accessors return nil for another kind, key or index")
    func accessors() {
        let value = PropertyListValue.dictionary(userInfo)
        #expect(value["text"]?.stringValue == "größe \"\n" && value["count"]?.integerValue == -3)
        #expect(
            value["ratio"]?.realValue == 2.5 && value["count"]?.realValue == -3
                && value["isFinal"]?.booleanValue == true)
        #expect(value["list"]?[1] == "two" && value["list"]?.arrayValue?.count == 4)
        #expect(value["map"]?["when"]?.dateValue != nil && value["map"]?["data"]?.dataValue?.count == 3)
        #expect(value.dictionaryValue == userInfo)
        #expect(value["none"] == nil && value[0] == nil && value["list"]?[4] == nil && value["list"]?[-1] == nil)
        let one = PropertyListValue.integer(1)
        #expect(one.booleanValue == nil && one.stringValue == nil && one.dateValue == nil && one.dataValue == nil)
        #expect(PropertyListValue.integer(.max).realValue == nil && PropertyListValue.boolean(true).integerValue == nil)
        #expect(PropertyListValue.array([]).dictionaryValue == nil && one.arrayValue == nil)
    }

    @Test("the conversion to Foundation's types and back returns the same value")
    func foundationAndBack() throws {
        var random = RandomPropertyList(seed: 3)
        for _ in 0..<500 {
            let value = PropertyListValue.dictionary(random.userInfo())
            #expect(try PropertyListValue(value.foundationObject) == value)
            guard let dictionary = value.foundationObject as? [String: Any] else {
                Issue.record("no dictionary")
                continue
            }
            #expect(try PropertyListValue(NSDictionary(dictionary: dictionary)) == value)
        }
    }

    @Test("numbers of Swift and of Foundation keep their kinds")
    func numbers() throws {
        #expect(try PropertyListValue(NSNumber(value: true)) == true)
        #expect(try PropertyListValue(NSNumber(value: false)) == false)
        #expect(try PropertyListValue(NSNumber(value: Int8(1))) == 1)
        #expect(try PropertyListValue(NSNumber(value: 0)) == 0)
        #expect(try PropertyListValue(NSNumber(value: 1.0)) == 1.0)
        #expect(try PropertyListValue(NSNumber(value: Float(0.5))) == 0.5)
        #expect(try PropertyListValue(NSNumber(value: UInt64(7))) == 7)
        #expect(try PropertyListValue(NSArray(array: [NSNumber(value: true), NSNumber(value: 1)])) == [true, 1])
        #expect(try PropertyListValue(true as Any) == true)
        #expect(try PropertyListValue(UInt8(1)) == 1)
        #expect(try PropertyListValue(Float(0.5)) == 0.5)
        #expect(try PropertyListValue(Optional(4) as Any) == 4)
        #expect(try PropertyListValue([UInt16(1), 2]) == [1, 2])
        #expect(try PropertyListValue("abc".dropFirst()) == "bc")
        #expect(try PropertyListValue(["a": PropertyListValue.array([1])]) == ["a": [1]])
    }

    @Test("a value of another type is refused with its path and type")
    func refusals() throws {
        #expect(
            refusal(["sizes": [1, 2, Unknown()] as [Any]])?.hasPrefix(
                "userInfo[\"sizes\"][2] is of the type Unknown, which") == true)
        #expect(
            refusal(["a": NSNull()])
                == "userInfo[\"a\"] is null, which a property list cannot contain. Leave the key out, or use an empty string."
        )
        #expect(refusal(["a": Int?.none as Any])?.hasPrefix("userInfo[\"a\"] is null") == true)
        #expect(refusal(Set([1]))?.hasPrefix("userInfo is of the type Set<Int>, which") == true)
        #expect(refusal(URL(fileURLWithPath: "/"))?.hasPrefix("userInfo is of the type URL") == true)
        let large =
            "userInfo[0] is 9223372036854775808, and an integer is from -9223372036854775808 to 9223372036854775807. "
            + "Use a string or a real."
        #expect(refusal([UInt64(1) << 63]) == large)
        #expect(refusal([NSNumber(value: UInt64(1) << 63)]) == large)
        #expect(refusal(["a": [1: 2]]) == "userInfo[\"a\"] has the key 1 of the type Int, and keys are strings.")
        #expect(
            refusal([Date(timeIntervalSinceReferenceDate: .nan)])
                == "userInfo[0] is a date outside the years 1 to 9999.")
        var deep: [Any] = []
        for _ in 0..<64 { deep = [deep] }
        #expect(refusal(deep)?.hasSuffix("is nested more than 64 arrays and dictionaries deep.") == true)
        #expect(refusal(deep[0]) == nil)
        #expect(refusal(Array(repeating: 1, count: 16_384))?.contains("exceeds 16384 values") == true)
    }

    @Test("the userInfo of a Foundation notification is converted if its keys are strings")
    func userInfoOfNotifications() throws {
        #expect(try [String: PropertyListValue](userInfo: ["a": 1, "b": ["c": true]]) == ["a": 1, "b": ["c": true]])
        #expect(
            throws: DistributedError.userInfoNotUsable(
                path: "userInfo", problem: "has the key 5 of the type Int, and keys are strings")
        ) {
            try [String: PropertyListValue](userInfo: [5: 1])
        }
    }
}
