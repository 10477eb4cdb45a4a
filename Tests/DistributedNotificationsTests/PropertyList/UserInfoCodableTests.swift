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

    private struct Everything: Codable, Hashable {
        var widths = [Int64.min, -1, 0, .max]
        var bytes: [UInt8] = [0, 255]
        var (small, unsigned, word) = (Int8.min, UInt64(Int64.max), UInt16.max)
        var (real, float, whole, infinite) = (-0.5, Float(1.5), 2.0, -Double.infinity)
        var isTrue = true
        var text = "größe 📬"
        var date = Date(timeIntervalSinceReferenceDate: 1.25)
        var data = Data([1, 2, 3])
        var (nothing, something): (Int?, Int?) = (nil, 4)
        var holes: [Int?] = [1, nil]
        var nested = [["a": [1, 2]], [:]]
        var dates = ["x": Date(timeIntervalSinceReferenceDate: 0)]
        var kind = Kind.large
        var choices = [Choice.none, .some(count: 2, of: ["b"])]
        var url = URL(string: "https://example.org/a?b")
        var identifier = UUID(uuidString: "A5B6C7D8-0000-4000-8000-000000000001")
        var free: PropertyListValue = ["text": "a", "is": [true, 1, 1.5]]
    }

    private struct Pair: Codable, Hashable {
        var count: UInt8
        var names: [String]
    }

    func testAValueOfEveryKindArrivesAsItWasPosted() throws {
        let temporary = try TemporaryDirectory()
        let center = try DistributedCenter(directory: temporary.directory, postTimeout: TestTimeout.hang)
        let arrived = Awaited<[Everything]>([])
        let token = try center.addObserver(forName: .numbered, as: Everything.self, on: .postingThread) { value in
            arrived.withLock { $0.append(value) }
        }
        try center.post(name: .numbered, codable: Everything())
        XCTAssertTrue(arrived.wait { !$0.isEmpty })
        XCTAssertEqual(arrived.withLock { $0 }, [Everything()])
        withExtendedLifetime(token) {}
        center.close()
    }

    func testAPropertyListInAValueMayHaveDatesAndData() throws {
        let free: [String: PropertyListValue] = [
            "when": .date(Date(timeIntervalSinceReferenceDate: 9)), "a": .data(Data([1])),
        ]
        let notification = DistributedNotification(name: .numbered, userInfo: free, sender: 1)
        XCTAssertEqual(try notification.value(as: [String: PropertyListValue].self), free)
    }

    func testAValueThatCannotBeAUserInfoIsRefusedWithItsPath() throws {
        let center = try DistributedCenter(directory: ServerDirectory(path: "/nonexistent/directory"))
        for (value, problem) in [
            (["list": [UInt64.max]], "userInfo[\"list\"][0] is 18446744073709551615, and an integer is at most"),
            ([1], "userInfo has keys, and Array<Int> is encoded without. Post a struct with it."),
            (1, "userInfo cannot be encoded ("),
            (["text": String(repeating: "x", count: 70_000)], "userInfo exceeds 60 KiB"),
        ] as [(any Encodable, String)] {
            XCTAssertThrowsError(try center.post(name: .numbered, codable: value)) { error in
                XCTAssertEqual((error as? DistributedError)?.code, .userInfoNotUsable)
                XCTAssertTrue("\(error)".hasPrefix(problem), "\(error)")
            }
        }
    }

    func testWhatDoesNotDecodeIsReportedWithItsPath() throws {
        let temporary = try TemporaryDirectory()
        let center = try DistributedCenter(directory: temporary.directory, postTimeout: TestTimeout.hang)
        let seen = Awaited<(values: [Pair], problems: [String])>(([], []))
        let events = center.addConnectionObserver(on: TargetThread.postingThread) { event in
            guard case .gap(let gap) = event, gap.cause == .undecodable, gap.count == 1 else { return }
            seen.withLock { $0.problems.append(gap.problem ?? "") }
        }
        let token = try center.addObserver(forName: .numbered, as: Pair.self, on: .postingThread) { value in
            seen.withLock { $0.values.append(value) }
        }
        let rows: [([String: PropertyListValue]?, String)] = [
            (["count": 256, "names": []], "userInfo[\"count\"] does not fit Pair ("),
            (["count": 1, "names": ["a", 2]], "userInfo[\"names\"][1] does not fit Pair ("),
            (["count": 1], "userInfo[\"names\"] is missing, and Pair needs it."),
            (nil, "userInfo[\"count\"] is missing, and Pair needs it."),
            (["count": true, "names": []], "userInfo[\"count\"] does not fit Pair ("),
        ]
        for (userInfo, _) in rows { try center.post(name: .numbered, userInfo: userInfo) }
        try center.post(name: .numbered, codable: Pair(count: 255, names: ["a"]))
        XCTAssertTrue(seen.wait { $0.values == [Pair(count: 255, names: ["a"])] && $0.problems.count == rows.count })
        for (problem, expected) in zip(seen.withLock { $0.problems }, rows.map(\.1)) {
            XCTAssertTrue(problem.hasPrefix(expected), problem)
        }
        withExtendedLifetime((events, token)) {}
        center.close()
    }

    func testTheAsyncFormsBlockNoTaskAndThrowTheSameErrors() async throws {
        let temporary = try TemporaryDirectory()
        let center = try DistributedCenter(directory: temporary.directory, postTimeout: TestTimeout.hang)
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
