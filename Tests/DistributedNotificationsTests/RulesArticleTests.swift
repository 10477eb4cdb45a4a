import Foundation
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The tables of the article agree with the code.
final class RulesArticleTests: XCTestCase {
    private static func text() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(
            contentsOf: root.appending(
                path: "Sources/DistributedNotifications/DistributedNotifications.docc/DistributedNotificationsRules.md"),
            encoding: .utf8)
    }

    /// The cells of all rows of all tables, without the headers.
    private static func rows() throws -> [[String]] {
        try text().split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
            line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
    }

    /// The limits of a type in the tables, by property.
    private static func limits(of type: String) throws -> [String: String] {
        // A symbol of another module is not a link: it has one backtick.
        let prefix = "\(type)/"
        return try Dictionary(
            uniqueKeysWithValues: rows().map { ($0[0].trimmingCharacters(in: ["`"]), $0[1]) }
                .filter { $0.0.hasPrefix(prefix) }.map { (String($0.0.dropFirst(prefix.count)), $0.1) })
    }

    /// A limit in the article, compared by its value: 64 KiB is 65,536.
    private enum Amount: Hashable {
        case number(Int)
        case time(Duration)
        case word(String)

        init?(_ text: String) {
            let parts = text.split(separator: " ")
            guard let first = parts.first else { return nil }
            guard let number = Int(first.replacing(",", with: "")) else {
                self = .word(text.trimmingCharacters(in: ["`"]))
                return
            }
            switch parts.dropFirst().first {
            case nil, "B": self = .number(number)
            case "KiB": self = .number(number << 10)
            case "MiB": self = .number(number << 20)
            case "s": self = .time(.seconds(number))
            case "ms": self = .time(.milliseconds(number))
            default: return nil
            }
        }

        init(of value: Any) {
            switch value {
            case let number as Int: self = .number(number)
            case let duration as Duration: self = .time(duration)
            default: self = .word("\(value)")
            }
        }
    }

    func testHasEachLimitOfAServerAndOfACenterAndNoOther() throws {
        for (type, limits) in [
            ("ServerLimits", ServerLimits() as any Sendable), ("ClientLimits", ClientLimits()),
        ] {
            var written = try Self.limits(of: type)
            for child in Mirror(reflecting: limits).children {
                let label = try XCTUnwrap(child.label)
                let cell = written.removeValue(forKey: label)
                XCTAssertEqual(
                    cell.flatMap { Amount($0) }, Amount(of: child.value), "\(type).\(label): \(cell ?? "no row")")
            }
            XCTAssertTrue(written.isEmpty, "\(written)")
        }
    }

    func testHasTheLimitsOfTheWire() throws {
        let rows = try Self.rows()
        for (name, limit) in [
            ("frame", Wire.frameLimit), ("name", Wire.nameLimit), ("object", Wire.objectLimit),
            ("userInfo", Wire.userInfoLimit), ("userInfo", PropertyListLimits.bytes),
            ("depth", PropertyListLimits.depth), ("values", PropertyListLimits.nodes),
            ("process name", Wire.processNameLimit),
        ] {
            let row = try XCTUnwrap(rows.first { $0[0] == name }, "\(name)")
            XCTAssertEqual(Amount(row[1]), .number(limit), "\(name): \(row[1])")
        }
    }

    func testHasTheFixedLimitsOfAServerAndTheResourcesThatItNeeds() throws {
        let rows = try Self.rows()
        for (name, limit) in [
            ("observer of a held notification", ServerLimits.heldBytesPerObserver as any Sendable),
            ("connections in a turn", ServerLimits.connectionsPerTurn),
            ("pause without descriptors", ServerLimits.descriptorPause),
        ] {
            let row = try XCTUnwrap(rows.first { $0[0] == name }, "\(name)")
            XCTAssertEqual(Amount(row[1]), Amount(of: limit), "\(name): \(row[1])")
        }
        let least = ServerResource.all(ServerLimits()).map(\.least)
        XCTAssertTrue(
            try Self.text().contains(
                "(\(least[0]) open files, \(least[1]) s of processor time, \(least[2] >> 20) MiB of address space, "
                    + "\(least[3] >> 20) MiB of data)"))
    }

    func testHasThePausesBetweenAttemptsToConnect() throws {
        let rows = try Self.rows()
        for (name, pause) in [
            ("first pause", AttemptPause.shortest), ("longest pause", AttemptPause.longest),
        ] {
            let row = try XCTUnwrap(rows.first { $0[0] == name }, "\(name)")
            XCTAssertEqual(Amount(row[1]), .time(pause), "\(name): \(row[1])")
        }
    }

    func testHasEachKindOfFrameWithItsNumber() throws {
        let written = try Self.rows().compactMap { row in UInt8(row[0]).map { "\($0) \(row[1])" } }
        let kinds = (UInt8.min...UInt8.max).compactMap(FrameKind.init).map { "\($0.rawValue) \($0)" }
        XCTAssertEqual(written, kinds)
    }

    func testHasARowForEachSuspensionBehavior() throws {
        let written = try Self.rows().map { $0[0] }
        for behavior in SuspensionBehavior.allCases {
            XCTAssertTrue(written.contains { $0.hasPrefix("``SuspensionBehavior/\(behavior)``") }, "\(behavior)")
        }
    }
}
