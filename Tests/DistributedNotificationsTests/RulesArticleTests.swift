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
        func bytes(_ bytes: Int) -> String {
            if bytes >= 1 << 20 { return "\(bytes >> 20) MiB" }
            return bytes > 1024 ? "\(bytes >> 10) KiB" : "\(number(bytes)) B"
        }
        func number(_ number: Int) -> String { number.formatted(.number.locale(Locale(identifier: "en_US"))) }
        func time(_ time: Duration) -> String {
            if time >= .seconds(3600) { return "\(time.components.seconds / 3600) h" }
            return time < .seconds(1) ? "\(Int(time / .milliseconds(1))) ms" : "\(time.components.seconds) s"
        }
        let server = ServerLimits()
        let limits = [
            ("frame", bytes(Wire.frameLimit)), ("name", bytes(Wire.nameLimit)), ("object", bytes(Wire.objectLimit)),
            ("userInfo", bytes(Wire.userInfoLimit)), ("depth", number(Wire.depthLimit)),
            ("values", number(Wire.valueLimit)), ("process name", bytes(Wire.processNameLimit)),
            ("machine, user", bytes(Wire.originLimit)), ("details", bytes(Wire.detailsLimit)),
            ("`ServerLimits/clients`", number(server.clients)),
            ("`ServerLimits/clientsBeforeHello`", number(server.clientsBeforeHello)),
            ("`ServerLimits/helloTimeout`", time(server.helloTimeout)),
            ("`ServerLimits/observersPerClient`", number(server.observersPerClient)),
            ("`ServerLimits/softQueueBytes`", bytes(server.softQueueBytes)),
            ("`ServerLimits/softQueueTimeout`", time(server.softQueueTimeout)),
            ("`ServerLimits/hardQueueBytes`", bytes(server.hardQueueBytes)),
            ("`ServerLimits/progressTimeout`", time(server.progressTimeout)),
            ("`ServerLimits/heldEntriesPerClient`", number(server.heldEntriesPerClient)),
            ("`ServerLimits/heldBytesPerClient`", bytes(server.heldBytesPerClient)),
            ("`ServerLimits/heldBytes`", bytes(server.heldBytes)),
            ("observer of a held notification", bytes(Wire.heldObserverBytes)),
            ("`ServerLimits/heldOverflow`", "`\(server.heldOverflow)`"),
            ("`ServerLimits/keptBytes`", bytes(server.keptBytes)),
            ("`ServerLimits/keptTimeout`", time(server.keptTimeout)),
            ("connections in a turn", number(Wire.connectionsPerTurn)),
            ("pause without descriptors", time(Wire.descriptorPause)),
            ("`ServerLimits/framesPerTurn`", number(server.framesPerTurn)),
            ("`ServerLimits/postsPerSecond`", number(server.postsPerSecond)),
            ("`ServerLimits/postsAtOnce`", number(server.postsAtOnce)),
            ("`ServerLimits/idleTimeout`", time(server.idleTimeout)),
            ("`ServerLimits/stopTimeout`", time(server.stopTimeout)),
            ("numbered names", number(Wire.sequenceLimit)),
            ("attempt to connect", time(Wire.connectTimeout)), ("first pause", time(Wire.shortestPause)),
            ("longest pause", time(Wire.longestPause)),
        ]
        let rows = try Self.rows()
        for (name, amount) in limits {
            XCTAssertEqual(rows.filter { $0.hasPrefix("| \(name) | \(amount) |") }.count, 1, "\(name) \(amount)")
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
