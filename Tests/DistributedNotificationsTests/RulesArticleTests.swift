import Foundation
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The tables of the article agree with the code.
final class RulesArticleTests: XCTestCase {
    /// The rows of all tables, without the headers.
    private static func rows() throws -> [String] {
        try text().split(separator: "\n").map(String.init).filter { $0.hasPrefix("| ") }
    }

    private static func text() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(
            contentsOf: root.appending(
                path: "Sources/DistributedNotifications/DistributedNotifications.docc/DistributedNotificationsRules.md"),
            encoding: .utf8)
    }

    func testItHasEachLimitOnce() throws {
        let cells = Limit.table.map { "| \($0.cells) |" }
        XCTAssertEqual(
            try Self.rows().compactMap { row in cells.first { row.hasPrefix($0) } }.sorted(), cells.sorted())
    }

    func testTheLimitsOfServersAndCentersAreThoseOfTheTable() {
        for (limits, type) in [(ServerLimits() as any Sendable, "`ServerLimits/"), (ClientLimits(), "``ClientLimits/")]
        {
            let used = Mirror(reflecting: limits).children.map { child -> String in
                let label = child.label ?? ""
                let amount: Limit.Amount =
                    switch child.value {
                    case let time as Duration: .time(time)
                    case let number as Int: label.contains("Bytes") ? .bytes(number) : .number(number)
                    case let other: .word("\(other)")
                    }
                return type + label + (type.hasPrefix("``") ? "`` | " : "` | ") + "\(amount)"
            }
            XCTAssertEqual(used.sorted(), Limit.table.map(\.cells).filter { $0.hasPrefix(type) }.sorted())
        }
    }

    func testItHasEachKindOfFrameWithItsNumber() throws {
        let written = try Self.rows().compactMap { row -> String? in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return UInt8(cells[0]).map { "\($0) \(cells[1])" }
        }
        XCTAssertEqual(written, (UInt8.min...UInt8.max).compactMap(FrameKind.init).map { "\($0.rawValue) \($0)" })
    }

    func testItHasARowForEachSuspensionBehavior() throws {
        let written = try Self.rows()
        for behavior in SuspensionBehavior.allCases {
            XCTAssertTrue(written.contains { $0.hasPrefix("| ``SuspensionBehavior/\(behavior)``") }, "\(behavior)")
        }
    }
}
