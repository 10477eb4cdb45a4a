import Foundation
import SharedTesting
import XCTest

@testable import DistributedNotifications

final class PropertyListCoderTests: XCTestCase {
    private static func encode(_ userInfo: [String: PropertyListValue]) throws -> [UInt8] {
        var writer = FrameWriter()
        try writer.userInfo(userInfo)
        return writer.bytes
    }

    private static func decode(_ bytes: [UInt8]) throws -> (value: [String: PropertyListValue], nodes: Int) {
        try bytes.withUnsafeBytes { (try PropertyListReader.decode($0), try PropertyListReader.check($0)) }
    }

    /// The reader's error for bytes that it refuses; nil if it accepts them.
    private static func refusal(_ bytes: [UInt8]) -> String? {
        do {
            _ = try decode(bytes)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The writer's error for a userInfo that it refuses; nil if it accepts it.
    private static func refusal(writing userInfo: [String: PropertyListValue]) -> String? {
        do {
            _ = try encode(userInfo)
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static func nested(_ depth: Int) -> PropertyListValue {
        (1..<depth).reduce(.array([])) { value, _ in .array([value]) }
    }

    func testEveryValueIsReadAsItWasWrittenAndTheNumberOfValuesIsRight() throws {
        var random = RandomPropertyList(seed: 7)
        for _ in 0..<TestRounds.rounds(600, stress: 3_000) {
            let userInfo = random.userInfo()
            let (value, nodes) = try Self.decode(Self.encode(userInfo))
            XCTAssertTrue(value == userInfo && value.hashValue == userInfo.hashValue)
            XCTAssertEqual(nodes, PropertyListValue.dictionary(userInfo).nodesAndDepth.nodes)
        }
        let real = try Self.decode(Self.encode(["a": .real(Double(nan: 77, signaling: false))])).value["a"]?.realValue
        XCTAssertEqual(real?.bitPattern, Double(nan: 77, signaling: false).bitPattern)
    }

    func testAUserInfoUpToTheLimitsIsWrittenAndOneBeyondIsRefused() throws {
        let overhead = 2 + 2 + 1 + 1 + 2
        for (value, problem) in [
            (.array(Array(repeating: true, count: 16_382)), nil),
            (.array(Array(repeating: true, count: 16_383)), "userInfo exceeds 16384 values."),
            (Self.nested(63), nil),
            (Self.nested(64), "userInfo is nested more than 64 arrays and dictionaries deep."),
            (.data(Data(count: 61_440 - overhead)), nil),
            (.data(Data(count: 61_441 - overhead)), "userInfo exceeds 60 KiB. Write large data to a file"),
            ([.string(String(repeating: "é", count: 40_000))], "userInfo exceeds 60 KiB"),
            ([.date(Date(timeIntervalSinceReferenceDate: .nan))], "userInfo has a date outside the years 1 to 9999."),
            ([.date(Date(timeIntervalSinceReferenceDate: 252_423_993_600))], "userInfo has a date outside"),
            ([.date(Date.distantPast), .date(Date.distantFuture)], nil),
        ] as [(PropertyListValue, String?)] {
            let refusal = Self.refusal(writing: ["a": value])
            if let problem {
                XCTAssertTrue(refusal?.contains(problem) ?? false, "\(refusal ?? "it was written"): \(problem)")
            } else {
                XCTAssertNil(refusal)
                XCTAssertEqual(try Self.decode(Self.encode(["a": value])).value, ["a": value])
            }
        }
    }

    func testEachMalformedInputIsRefusedAndTheErrorSaysWhere() throws {
        // Each array claims 900 elements, of which the next array is the first. Claims take no memory.
        let claims = [1, 0, 1, 0, 97] + (0..<40).flatMap { _ in [8, 0x84, 3] } + [Int](repeating: 4, count: 900)
        for (bytes, problem) in [
            ([], "byte 0 of the userInfo: the bytes end too early"),
            ([0], "byte 0 of the userInfo: the bytes end too early"),
            ([0, 0, 0], "byte 2 of the userInfo: there are bytes after the end"),
            ([1, 0, 1, 0, 97, 0], "byte 5 of the userInfo: no value begins with 0"),
            ([1, 0, 1, 0, 97, 10], "byte 5 of the userInfo: no value begins with 10"),
            ([1, 0, 2, 0, 0xc0, 0x80, 4], "byte 6 of the userInfo: the string that ends here is not UTF-8"),
            ([1, 0, 9, 0, 97, 4], "byte 4 of the userInfo: there are fewer than 9 bytes"),
            ([0xff, 0xff, 1, 0, 97, 4], "byte 2 of the userInfo: there are fewer than 65535 elements"),
            ([1, 0, 1, 0, 97, 8, 2, 0, 4], "byte 8 of the userInfo: there are fewer than 2 elements"),
            ([1, 0, 1, 0, 97, 2, 0, 0], "byte 6 of the userInfo: the bytes end too early"),
            (
                [1, 0, 1, 0, 97, 6] + [Int](repeating: 255, count: 8),
                "byte 14 of the userInfo: a date is outside the years 1 to 9999"
            ),
            (claims, "byte 62 of the userInfo: there are more than 16384 values"),
            ([Int](repeating: 0, count: 61_441), "byte 0 of the userInfo: 61441 bytes exceed the limit of a userInfo"),
        ] as [([Int], String)] { XCTAssertEqual(Self.refusal(bytes.map { UInt8($0) }), problem) }
        // Of a key that comes twice, the last value counts.
        XCTAssertEqual(try Self.decode([2, 0, 1, 0, 97, 4, 1, 0, 97, 5]).value, ["a": true])
    }

    func testEveryProperPrefixOfAnEncodedUserInfoIsRefusedAndSoIsAByteAfterItsEnd() throws {
        var random = RandomPropertyList(seed: 11)
        for _ in 0..<30 {
            let bytes = try Self.encode(random.userInfo())
            for count in 0..<bytes.count { XCTAssertNotNil(Self.refusal(Array(bytes[..<count]))) }
            XCTAssertNotNil(Self.refusal(bytes + [4]))
        }
    }

    func testMutatedBytesAreReadWithinTheLimitsOrRefused() throws {
        var random = RandomPropertyList(seed: UInt64(RandomPropertyList.inputs))
        var (read, refused) = (0, 0)
        var bytes: [UInt8] = []
        for input in 0..<RandomPropertyList.inputs {
            if input % 100 == 0 { bytes = try Self.encode(random.userInfo()) }
            let mutated = random.mutate(bytes)
            guard let (value, nodes) = try? Self.decode(mutated) else {
                refused += 1
                continue
            }
            read += 1
            let (counted, depth) = PropertyListValue.dictionary(value).nodesAndDepth
            // Of a key that came twice, one value is left. Otherwise it can be encoded again, to the same length.
            let isSame = try counted == nodes && Self.encode(value).count == mutated.count
            try require((isSame || counted < nodes) && nodes <= 16_384 && depth <= 64, "\(mutated)")
        }
        XCTAssertTrue(read > 0 && refused > 0)
    }
}
