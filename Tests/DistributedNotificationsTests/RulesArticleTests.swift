import Foundation
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The tables of the article agree with the code.
final class RulesArticleTests: XCTestCase {
    /// The rows of all tables, without the headers.
    private static func rows() throws -> [String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let article = try String(
            contentsOf: root.appending(
                path: "Sources/DistributedNotifications/DistributedNotifications.docc/DistributedNotificationsRules.md"),
            encoding: .utf8)
        return article.split(separator: "\n").map(String.init).filter { $0.hasPrefix("| ") }
    }

    func testItHasTheTableOfLimitsRowByRow() throws {
        let table = (Limit.onTheWire + Limit.ofAServer + Limit.ofACenter).map(\.row)
        XCTAssertEqual(try Self.rows().filter(Set(table).contains), table)
        XCTAssertEqual(Set(table).count, table.count)
    }

    func testTheLimitsOfServersAndCentersAreThoseOfTheTable() {
        for (limits, rows, prefix) in [
            (ServerLimits() as any Sendable, Limit.ofAServer, "`ServerLimits/"),
            (ClientLimits(), Array(Limit.ofACenter.prefix(2)), "``ClientLimits/"),
        ] {
            let used = Mirror(reflecting: limits).children.map { child -> String in
                let amount: Limit.Amount =
                    switch child.value {
                    case let time as Duration: .time(time)
                    case let bytes as Int where child.label?.hasSuffix("Bytes") == true: .bytes(bytes)
                    case let bytes as Int where child.label?.hasPrefix("heldBytes") == true: .bytes(bytes)
                    case let number as Int: .number(number)
                    case let other: .word("\(other)")
                    }
                return "\(child.label ?? "") \(amount)"
            }
            let written = rows.map { "\($0.name.trimmingPrefix(prefix).trimmingSuffix("`")) \($0.amount)" }
            XCTAssertEqual(used.sorted(), written.sorted())
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

extension StringProtocol {
    fileprivate func trimmingSuffix(_ suffix: Character) -> String {
        String(reversed().drop { $0 == suffix }.reversed())
    }
}
