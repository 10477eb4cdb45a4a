import Foundation
import Testing

@testable import DistributedNotifications

@Suite("A userInfo on the wire")
struct PropertyListCoderTests {
    static func encode(_ userInfo: [String: PropertyListValue]) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try PropertyListWriter.encode(userInfo, into: &bytes)
        return bytes
    }

    static func decode(_ bytes: [UInt8]) throws -> (value: [String: PropertyListValue], nodes: Int) {
        try bytes.withUnsafeBytes { try PropertyListReader.decode($0) }
    }

    /// The reader's error for bytes that it refuses; nil if it accepts them.
    private func refusal(_ bytes: [UInt8]) -> String? {
        do {
            _ = try Self.decode(bytes)
            return nil
        } catch {
            return "\(error)"
        }
    }

    /// The writer's error for a userInfo that it refuses; nil if it accepts it.
    private func refusal(writing userInfo: [String: PropertyListValue]) -> String? {
        var bytes: [UInt8] = [9]
        do throws(DistributedError) {
            try PropertyListWriter.encode(userInfo, into: &bytes)
            return nil
        } catch {
            #expect(bytes == [9])
            return "\(error)"
        }
    }

    private func nested(_ depth: Int) -> PropertyListValue {
        var value = PropertyListValue.array([])
        for _ in 1..<depth { value = .array([value]) }
        return value
    }

    @Test("every value is read as it was written, and the number of values is right")
    func roundTrips() throws {
        var random = RandomPropertyList(seed: 7)
        for _ in 0..<3000 {
            let userInfo = random.userInfo()
            let (value, nodes) = try Self.decode(Self.encode(userInfo))
            #expect(value == userInfo && value.hashValue == userInfo.hashValue)
            #expect(nodes == PropertyListValue.dictionary(userInfo).nodesAndDepth.nodes)
        }
    }

    @Test("numbers keep their bits, and booleans, integers and reals keep their kinds")
    func bits() throws {
        let reals = [-0.0, 0, .infinity, .nan, Double(nan: 77, signaling: false), .leastNonzeroMagnitude, 1]
        let values: [PropertyListValue] = reals.map { .real($0) } + [.integer(1), .boolean(true), .integer(.min)]
        guard case .array(let read)? = try Self.decode(Self.encode(["a": .array(values)])).value["a"] else {
            Issue.record("no array")
            return
        }
        for (real, value) in zip(reals, read) {
            guard case .real(let arrived) = value else {
                Issue.record("no real: \(value)")
                continue
            }
            #expect(arrived.bitPattern == real.bitPattern)
        }
        #expect(Array(read.suffix(3)) == [.integer(1), .boolean(true), .integer(.min)])
        let dates = [Date.distantPast, .distantFuture, Date(timeIntervalSinceReferenceDate: 0.1)].map(
            PropertyListValue.date)
        #expect(try Self.decode(Self.encode(["d": .array(dates)])).value["d"] == .array(dates))
    }

    @Test("nil is written as no bytes, and an empty userInfo as two")
    func nothing() throws {
        var bytes: [UInt8] = [5]
        try PropertyListWriter.encode(nil, into: &bytes)
        #expect(bytes == [5])
        #expect(try Self.encode([:]) == [0, 0])
    }

    @Test("a userInfo beyond a limit is refused, and the error says where")
    func writingLimits() throws {
        func array(_ count: Int) -> [String: PropertyListValue] {
            ["a": .array(Array(repeating: .boolean(true), count: count))]
        }
        #expect(try Self.decode(Self.encode(array(16_382))).nodes == 16_384)
        #expect(
            refusal(writing: array(16_383))
                == "userInfo[\"a\"] is where the userInfo exceeds 16384 values.")

        #expect(refusal(writing: ["a": nested(63)]) == nil)
        let deep = try #require(refusal(writing: ["a": nested(64)]))
        #expect(
            deep
                == "userInfo[\"a\"][0][0][0][0][0]…[0][0][0][0][0] is nested more than 64 arrays and dictionaries deep."
        )

        let overhead = 2 + 2 + 1 + 1 + 2
        #expect(try Self.encode(["a": .data(Data(count: 61440 - overhead))]).count == 61440)
        #expect(
            refusal(writing: ["a": .data(Data(count: 61441 - overhead))])?.hasPrefix(
                "userInfo[\"a\"] is where the userInfo exceeds 60 KiB") == true)
        #expect(
            refusal(writing: ["s": .array([.string(String(repeating: "é", count: 40_000))])])?.hasPrefix(
                "userInfo[\"s\"][0] is where the userInfo exceeds 60 KiB") == true)
        #expect(
            refusal(writing: [String(repeating: "k", count: 70_000): .boolean(true)])?.hasPrefix("userInfo[\"kkk")
                == true)
    }

    @Test("a userInfo of each size around the limit is written whole or not at all")
    func everyEnd() throws {
        for padding in 61_300...61_450 {
            let userInfo: [String: PropertyListValue] = [
                "0": .data(Data(count: padding)),
                "a": .array([.integer(1), .real(2), .string("three"), .dictionary(["k": .boolean(true)])]),
            ]
            let size = 2 + (3 + 3 + padding) + (3 + 3 + 9 + 9 + 8 + (3 + 3 + 1))
            let bytes = try? Self.encode(userInfo)
            #expect(bytes?.count == (size <= 61440 ? size : nil))
        }
    }

    @Test("a date outside the limits is neither written nor read")
    func dates() throws {
        for seconds in [Double.nan, .infinity, 252_423_993_600, Date.distantPast.timeIntervalSinceReferenceDate - 1] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            #expect(
                refusal(writing: ["a": .array([.date(date)])])
                    == "userInfo[\"a\"][0] is a date outside the years 1 to 9999.")
            let bytes = [1, 0, 1, 0, 97, 6] + withUnsafeBytes(of: seconds.bitPattern.littleEndian, Array.init)
            #expect(refusal(bytes) == "byte 14 of the userInfo: a date is outside the years 1 to 9999")
        }
    }

    @Test("each malformed input is refused, and the error says where")
    func refusals() {
        #expect(refusal([]) == "byte 0 of the userInfo: the bytes end too early")
        #expect(refusal([0]) == "byte 0 of the userInfo: the bytes end too early")
        #expect(refusal([0, 0, 0]) == "byte 2 of the userInfo: there are bytes after the end")
        #expect(refusal([1, 0, 1, 0, 97, 0]) == "byte 5 of the userInfo: no value begins with 0")
        #expect(refusal([1, 0, 1, 0, 97, 10]) == "byte 5 of the userInfo: no value begins with 10")
        #expect(refusal([1, 0, 1, 0, 0xff, 4]) == "byte 5 of the userInfo: the string that ends here is not UTF-8")
        #expect(
            refusal([1, 0, 2, 0, 0xc0, 0x80, 4]) == "byte 6 of the userInfo: the string that ends here is not UTF-8")
        #expect(
            refusal([2, 0, 1, 0, 97, 4, 1, 0, 97, 4]) == "byte 10 of the userInfo: a dictionary contains a key twice")
        #expect(refusal([1, 0, 9, 0, 97, 4]) == "byte 4 of the userInfo: there are fewer than 9 bytes")
        #expect(refusal([0xff, 0xff, 1, 0, 97, 4]) == "byte 2 of the userInfo: there are fewer than 65535 elements")
        #expect(refusal([1, 0, 1, 0, 97, 8, 2, 0, 4]) == "byte 8 of the userInfo: there are fewer than 2 elements")
        #expect(refusal([1, 0, 1, 0, 97, 2, 0, 0]) == "byte 6 of the userInfo: the bytes end too early")
        #expect(
            refusal([UInt8](repeating: 0, count: 61_441))
                == "byte 0 of the userInfo: 61441 bytes exceed the limit of a userInfo")
    }

    @Test("every proper prefix of an encoded userInfo is refused, and so is a byte after its end")
    func truncation() throws {
        var random = RandomPropertyList(seed: 11)
        for _ in 0..<30 {
            let bytes = try Self.encode(random.userInfo())
            for count in 0..<bytes.count { #expect(refusal(Array(bytes[..<count])) != nil) }
            #expect(refusal(bytes + [4]) != nil)
        }
    }

    @Test("20,000 nested arrays are refused on a thread with a small stack")
    func stack() throws {
        let deep: [UInt8] = [1, 0, 1, 0, 97] + (0..<20_000).flatMap { _ in [8, 1, 0] as [UInt8] }
        let deepest = try Self.encode(["a": nested(63)])
        nonisolated(unsafe) var results: [String?] = []  // Safety: read only after the thread has ended its work.
        let isDone = DispatchSemaphore(value: 0)
        let thread = Thread {
            results = [self.refusal(deep), self.refusal(deepest), self.refusal(writing: ["a": self.nested(500)])]
            isDone.signal()
        }
        thread.stackSize = 512 << 10
        thread.start()
        isDone.wait()
        #expect(results[0] == "byte 195 of the userInfo: it is nested more than 64 arrays and dictionaries deep")
        #expect(results[1] == nil)
        #expect(results[2] != nil)
    }

    @Test("elements that are only claimed take no memory")
    func claims() {
        // Each array claims 900 elements, of which the next array is the first.
        let bytes: [UInt8] =
            [1, 0, 1, 0, 97] + (0..<40).flatMap { _ in [8, 0x84, 3] as [UInt8] } + [UInt8](repeating: 4, count: 900)
        #expect(refusal(bytes) == "byte 62 of the userInfo: there are more than 16384 values")
    }

    @Test("mutated bytes are read within the limits or refused")
    func fuzz() throws {
        var random = RandomPropertyList(seed: UInt64(RandomPropertyList.inputs))
        var (read, refused) = (0, 0)
        var bytes: [UInt8] = []
        let memory = RandomPropertyList.memory
        for input in 0..<RandomPropertyList.inputs {
            if input % 100 == 0 { bytes = try Self.encode(random.userInfo()) }
            let mutated = random.mutate(bytes)
            guard let (value, nodes) = try? Self.decode(mutated) else {
                refused += 1
                continue
            }
            read += 1
            let (counted, depth) = PropertyListValue.dictionary(value).nodesAndDepth
            if counted != nodes || nodes > 16_384 || depth > 64 {
                Issue.record("\(nodes) nodes, \(depth) deep: \(mutated)")
            }
            // A decoded userInfo can be encoded again, to the same length.
            if try Self.encode(value).count != mutated.count { Issue.record("is written differently: \(mutated)") }
        }
        #expect(read > 0 && refused > 0)
        RandomPropertyList.expectLittleMore(than: memory)
    }
}
