import Foundation
import SharedTesting
import XCTest

@testable import DistributedNotifications

final class PropertyListCoderTests: XCTestCase {
    static func encode(_ userInfo: [String: PropertyListValue]) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try PropertyListWriter.encode(userInfo, into: &bytes)
        return bytes
    }

    static func decode(_ bytes: [UInt8]) throws -> (value: [String: PropertyListValue], nodes: Int) {
        try bytes.withUnsafeBytes { (try PropertyListReader.decode($0), try PropertyListReader.check($0)) }
    }

    /// The reader's error for bytes that it refuses; nil if it accepts them.
    private static func refusal(_ bytes: [UInt8]) -> String? {
        do {
            _ = try Self.decode(bytes)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The writer's error for a userInfo that it refuses; nil if it accepts it.
    private static func refusal(writing userInfo: [String: PropertyListValue]) -> String? {
        var bytes: [UInt8] = [9]
        do throws(DistributedError) {
            try PropertyListWriter.encode(userInfo, into: &bytes)
            return nil
        } catch {
            XCTAssertEqual(bytes, [9])
            return "\(error)"
        }
    }

    private static func nested(_ depth: Int) -> PropertyListValue {
        var value = PropertyListValue.array([])
        for _ in 1..<depth { value = .array([value]) }
        return value
    }

    func testEveryValueIsReadAsItWasWrittenAndTheNumberOfValuesIsRight() throws {
        var random = RandomPropertyList(seed: 7)
        for _ in 0..<TestRounds.rounds(600, stress: 3_000) {
            let userInfo = random.userInfo()
            let (value, nodes) = try Self.decode(Self.encode(userInfo))
            XCTAssertTrue(value == userInfo && value.hashValue == userInfo.hashValue)
            XCTAssertEqual(nodes, PropertyListValue.dictionary(userInfo).nodesAndDepth.nodes)
        }
    }

    func testNumbersKeepTheirBitsAndBooleansIntegersAndRealsKeepTheirKinds() throws {
        let reals = [-0.0, 0, .infinity, .nan, Double(nan: 77, signaling: false), .leastNonzeroMagnitude, 1]
        let values: [PropertyListValue] = reals.map { .real($0) } + [.integer(1), .boolean(true), .integer(.min)]
        guard case .array(let read)? = try Self.decode(Self.encode(["a": .array(values)])).value["a"] else {
            XCTFail("no array")
            return
        }
        for (real, value) in zip(reals, read) {
            guard case .real(let arrived) = value else {
                XCTFail("no real: \(value)")
                continue
            }
            XCTAssertEqual(arrived.bitPattern, real.bitPattern)
        }
        XCTAssertEqual(Array(read.suffix(3)), [.integer(1), .boolean(true), .integer(.min)])
        let dates = [Date.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0.1)].map(
            PropertyListValue.date)
        XCTAssertEqual(try Self.decode(Self.encode(["d": .array(dates)])).value["d"], .array(dates))
    }

    func testAUserInfoBeyondALimitIsRefusedAndTheErrorSaysWhere() throws {
        func array(_ count: Int) -> [String: PropertyListValue] {
            ["a": .array(Array(repeating: .boolean(true), count: count))]
        }
        XCTAssertEqual(try Self.decode(Self.encode(array(16_382))).nodes, 16_384)
        XCTAssertEqual(
            Self.refusal(writing: array(16_383)), "userInfo[\"a\"] is where the userInfo exceeds 16384 values.")

        XCTAssertNil(Self.refusal(writing: ["a": Self.nested(63)]))
        let deep = try XCTUnwrap(Self.refusal(writing: ["a": Self.nested(64)]))
        XCTAssertEqual(
            deep, "userInfo[\"a\"][0][0][0][0][0]…[0][0][0][0][0] is nested more than 64 arrays and dictionaries deep.")

        let overhead = 2 + 2 + 1 + 1 + 2
        XCTAssertEqual(try Self.encode(["a": .data(Data(count: 61440 - overhead))]).count, 61440)
        XCTAssertEqual(
            Self.refusal(writing: ["a": .data(Data(count: 61441 - overhead))])?.hasPrefix(
                "userInfo[\"a\"] is where the userInfo exceeds 60 KiB"), true)
        XCTAssertEqual(
            Self.refusal(writing: ["s": .array([.string(String(repeating: "é", count: 40_000))])])?.hasPrefix(
                "userInfo[\"s\"][0] is where the userInfo exceeds 60 KiB"), true)
        XCTAssertEqual(
            Self.refusal(writing: [String(repeating: "k", count: 70_000): .boolean(true)])?.hasPrefix("userInfo[\"kkk"),
            true)
    }

    func testADateOutsideTheLimitsIsNeitherWrittenNorRead() throws {
        for seconds in [Double.nan, .infinity, 252_423_993_600, Date.distantPast.timeIntervalSinceReferenceDate - 1] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            XCTAssertEqual(
                Self.refusal(writing: ["a": .array([.date(date)])]),
                "userInfo[\"a\"][0] is a date outside the years 1 to 9999.")
            let bytes = [1, 0, 1, 0, 97, 6] + withUnsafeBytes(of: seconds.bitPattern.littleEndian, Array.init)
            XCTAssertEqual(Self.refusal(bytes), "byte 14 of the userInfo: a date is outside the years 1 to 9999")
        }
    }

    func testEachMalformedInputIsRefusedAndTheErrorSaysWhere() throws {
        XCTAssertEqual(Self.refusal([]), "byte 0 of the userInfo: the bytes end too early")
        XCTAssertEqual(Self.refusal([0]), "byte 0 of the userInfo: the bytes end too early")
        XCTAssertEqual(Self.refusal([0, 0, 0]), "byte 2 of the userInfo: there are bytes after the end")
        XCTAssertEqual(Self.refusal([1, 0, 1, 0, 97, 0]), "byte 5 of the userInfo: no value begins with 0")
        XCTAssertEqual(Self.refusal([1, 0, 1, 0, 97, 10]), "byte 5 of the userInfo: no value begins with 10")
        XCTAssertEqual(
            Self.refusal([1, 0, 1, 0, 0xff, 4]), "byte 5 of the userInfo: the string that ends here is not UTF-8")
        XCTAssertEqual(
            Self.refusal([1, 0, 2, 0, 0xc0, 0x80, 4]), "byte 6 of the userInfo: the string that ends here is not UTF-8")
        // Of a key that comes twice, the last value counts.
        XCTAssertEqual(try Self.decode([2, 0, 1, 0, 97, 4, 1, 0, 97, 5]).value, ["a": true])
        XCTAssertEqual(Self.refusal([1, 0, 9, 0, 97, 4]), "byte 4 of the userInfo: there are fewer than 9 bytes")
        XCTAssertEqual(
            Self.refusal([0xff, 0xff, 1, 0, 97, 4]), "byte 2 of the userInfo: there are fewer than 65535 elements")
        XCTAssertEqual(
            Self.refusal([1, 0, 1, 0, 97, 8, 2, 0, 4]), "byte 8 of the userInfo: there are fewer than 2 elements")
        XCTAssertEqual(Self.refusal([1, 0, 1, 0, 97, 2, 0, 0]), "byte 6 of the userInfo: the bytes end too early")
        // Each array claims 900 elements, of which the next array is the first. Claims take no memory.
        let claims: [UInt8] =
            [1, 0, 1, 0, 97] + (0..<40).flatMap { _ in [8, 0x84, 3] as [UInt8] } + [UInt8](repeating: 4, count: 900)
        XCTAssertEqual(Self.refusal(claims), "byte 62 of the userInfo: there are more than 16384 values")
        XCTAssertEqual(
            Self.refusal([UInt8](repeating: 0, count: 61_441)),
            "byte 0 of the userInfo: 61441 bytes exceed the limit of a userInfo")
    }

    func testEveryProperPrefixOfAnEncodedUserInfoIsRefusedAndSoIsAByteAfterItsEnd() throws {
        var random = RandomPropertyList(seed: 11)
        for _ in 0..<30 {
            let bytes = try Self.encode(random.userInfo())
            for count in 0..<bytes.count { XCTAssertNotNil(Self.refusal(Array(bytes[..<count]))) }
            XCTAssertNotNil(Self.refusal(bytes + [4]))
        }
    }

    func test20000NestedArraysAreRefusedOnAThreadWithASmallStack() throws {
        let deep: [UInt8] = [1, 0, 1, 0, 97] + (0..<20_000).flatMap { _ in [8, 1, 0] as [UInt8] }
        let deepest = try Self.encode(["a": Self.nested(63)])
        nonisolated(unsafe) var results: [String?] = []  // Safety: read only after the thread has ended its work.
        let isDone = DispatchSemaphore(value: 0)
        let thread = Thread {
            results = [Self.refusal(deep), Self.refusal(deepest), Self.refusal(writing: ["a": Self.nested(500)])]
            isDone.signal()
        }
        thread.stackSize = 512 << 10
        thread.start()
        isDone.wait()
        XCTAssertEqual(results[0], "byte 195 of the userInfo: it is nested more than 64 arrays and dictionaries deep")
        XCTAssertNil(results[1])
        XCTAssertNotNil(results[2])
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
            // Of a key that came twice, one value is left.
            if counted > nodes || nodes > 16_384 || depth > 64 {
                XCTFail("\(nodes) nodes, \(depth) deep: \(mutated)")
            }
            // A decoded userInfo can be encoded again, to the same length.
            if try counted == nodes && Self.encode(value).count != mutated.count {
                XCTFail("is written differently: \(mutated)")
            }
        }
        XCTAssertTrue(read > 0 && refused > 0)
    }
}
