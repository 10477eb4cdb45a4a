import DistributedNotifications
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// A `Codable` type is a userInfo in both directions, through a server.
final class UserInfoCodableTests: XCTestCase {
    private enum Kind: String, Codable { case small, large }

    private enum Choice: Codable, Hashable {
        case none
        case some(count: Int, of: [String])
    }

    private class Base: Codable {
        var inherited = "base"
    }

    private final class Derived: Base {
        var own = 0

        private enum CodingKeys: String, CodingKey { case own }

        init(own: Int) {
            self.own = own
            super.init()
            inherited = "changed"
        }

        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            own = try container.decode(Int.self, forKey: .own)
            try super.init(from: container.superDecoder())
        }

        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(own, forKey: .own)
            try super.encode(to: container.superEncoder())
        }
    }

    private struct Everything: Codable, Hashable {
        var widths = [Int64.min, -1, 0, .max]
        var bytes: [UInt8] = [0, 255]
        var (small, unsigned, word) = (Int8.min, UInt64(Int64.max), UInt16.max)
        var (real, float, whole) = (-0.5, Float(1.5), 2.0)
        var isTrue = true
        var text = "größe 📬"
        var date = Date(timeIntervalSinceReferenceDate: 1.25)
        var data = Data([1, 2, 3])
        var (nothing, something): (Int?, Int?) = (nil, 4)
        var nested = [["a": [1, 2]], [:]]
        var dates = ["x": Date(timeIntervalSinceReferenceDate: 0)]
        var kind = Kind.large
        var choices = [Choice.none, .some(count: 2, of: ["b"])]
        var url = URL(string: "https://example.org/a?b")
        var identifier = UUID(uuidString: "A5B6C7D8-0000-4000-8000-000000000001")
        var free: PropertyListValue = ["when": .date(Date(timeIntervalSinceReferenceDate: 9)), "is": [true, 1, 1.0]]
    }

    private struct Pair: Codable, Hashable {
        var count: UInt8
        var names: [String]
    }

    private static func center(_ temporary: FaultDirectory) throws -> DistributedCenter {
        try DistributedCenter(directory: temporary.directory, limits: .patient)
    }

    func testAValueOfEveryKindArrivesAsItWasPosted() throws {
        let temporary = try FaultDirectory()
        let center = try Self.center(temporary)
        let arrived = Awaited<(everything: [Everything], derived: [String])>(([], []))
        let tokens = [
            try center.addObserver(forName: .numbered, as: Everything.self, on: .postingThread) { value in
                arrived.withLock { $0.everything.append(value) }
            },
            try center.addObserver(forName: Notification.Name("derived"), on: .postingThread) { notification in
                let value = try? notification.value(as: Derived.self)
                arrived.withLock { $0.derived.append("\(value?.own ?? 0) \(value?.inherited ?? "")") }
            },
        ]
        try center.post(name: .numbered, codable: Everything())
        try center.post(name: Notification.Name("derived"), codable: Derived(own: 5))
        XCTAssertTrue(arrived.wait { !$0.everything.isEmpty && !$0.derived.isEmpty })
        XCTAssertEqual(arrived.withLock { $0.everything }, [Everything()])
        XCTAssertEqual(arrived.withLock { $0.derived }, ["5 changed"])
        withExtendedLifetime(tokens) {}
        center.close()
    }

    func testAValueThatCannotBeAUserInfoIsRefusedWithItsPath() throws {
        struct Large: Encodable {
            var list = ["a": [UInt64.max]]
        }
        struct Hole: Encodable { var list: [Int?] = [1, nil] }
        let center = try DistributedCenter(directory: ServerDirectory(path: "/nonexistent/directory"))
        func refusal(_ value: some Encodable) -> String? {
            do throws(DistributedError) {
                try center.post(name: .numbered, codable: value)
                return nil
            } catch {
                return "\(error)"
            }
        }
        XCTAssertEqual(
            refusal(Large()),
            "userInfo[\"list\"][\"a\"][0] is 18446744073709551615, and an integer is from -9223372036854775808 to "
                + "9223372036854775807.")
        XCTAssertEqual(
            refusal(Hole()), "userInfo[\"list\"][1] is null, which a property list cannot contain.")
        XCTAssertEqual(
            refusal([1]), "Array<Int> is encoded without keys, and a userInfo has keys. Post a struct with it.")
        XCTAssertEqual(
            refusal(["text": String(repeating: "x", count: 70_000)])?.hasPrefix("userInfo[\"text\"] is where"), true)
    }

    func testWhatDoesNotDecodeIsCountedForItsObserverAndTheGapSaysWhy() throws {
        let temporary = try FaultDirectory()
        let center = try Self.center(temporary)
        let seen = Awaited<(values: [Pair], gap: NotificationGap)>(([], NotificationGap(count: 0, cause: .undecodable)))
        let events = center.addConnectionObserver(on: TargetThread.postingThread) { event in
            guard case .gap(let gap) = event else { return }
            seen.withLock { seen in
                XCTAssertEqual(gap.cause, .undecodable)
                seen.gap.problem = seen.gap.problem ?? gap.problem
                seen.gap.count += gap.count
                seen.gap.observers.merge(gap.observers) { $0 + $1 }
            }
        }
        let token = try center.addObserver(forName: .numbered, as: Pair.self, on: .postingThread) { value in
            seen.withLock { $0.values.append(value) }
        }
        try center.post(name: .numbered, userInfo: ["count": 256, "names": []])
        try center.post(name: .numbered, userInfo: ["count": 1, "names": ["a", 2]])
        try center.post(name: .numbered, userInfo: ["count": 1])
        try center.post(name: .numbered)
        try center.post(name: .numbered, codable: Pair(count: 255, names: ["a"]))
        XCTAssertTrue(seen.wait { $0.gap.count == 4 && $0.values.count == 1 }, "\(seen.withLock { $0 })")
        XCTAssertEqual(
            seen.withLock { $0.gap },
            NotificationGap(
                count: 4, cause: .undecodable, observers: [token.id: 4],
                problem: "userInfo[\"count\"] is 256, and UInt8 is expected."))
        for (userInfo, problem) in [
            (["count": 1, "names": ["a", 2]], "userInfo[\"names\"][1] is 2, and String is expected."),
            (["count": 1], "userInfo[\"names\"] is missing, and Pair needs it."),
            ([:], "userInfo[\"count\"] is missing, and Pair needs it."),
            (["count": true, "names": []], "userInfo[\"count\"] is true, and UInt8 is expected."),
        ] as [([String: PropertyListValue], String)] {
            XCTAssertThrowsError(
                try DistributedNotification(name: .numbered, userInfo: userInfo, sender: 1).value(as: Pair.self)
            ) { XCTAssertEqual("\($0)", problem) }
        }
        withExtendedLifetime(events) {}
        center.close()
    }

    func testAPropertyListIsDecodedFromJSON() throws {
        let json = #"{"a":[1,-2.5,true,"x",{}]}"#
        XCTAssertEqual(
            try JSONDecoder().decode(PropertyListValue.self, from: Data(json.utf8)),
            ["a": [1, -2.5, true, "x", [:]]])
    }

    func testTheAsyncFormsBlockNoTaskAndThrowTheSameErrors() async throws {
        let temporary = try FaultDirectory()
        let center = try Self.center(temporary)
        let sequence = try center.notifications(named: .numbered)
        try await center.synchronize(timeout: TestTimeout.hang)
        try await center.post(name: .numbered, codable: Pair(count: 1, names: []))
        var iterator = sequence.makeAsyncIterator()
        let value = try await iterator.next()?.value(as: Pair.self)
        XCTAssertEqual(value, Pair(count: 1, names: []))
        let status = try await DistributedCenter.status(of: temporary.directory, timeout: TestTimeout.hang)
        XCTAssertEqual(status?.posted, 1)
        center.close()
        do {
            try await center.post(name: .numbered)
            XCTFail("it was posted")
        } catch {
            XCTAssertEqual(error, .closed)
        }
    }
}
