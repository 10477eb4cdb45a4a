import DistributedNotifications
import NotificationServer
import XCTest

@testable import notify_demo

/// The log of `serve`.
final class ServerEventLogTests: XCTestCase {
    func testConnectionsAreInformationOrNoticesAndLossesAndRefusalsAreWarnings() {
        let entries: [(ServerEvent, LogLevel, String)] = [
            (.started(directory: ServerDirectory(path: "/d"), processID: 1), .notice, "server 1 serves at /d/socket"),
            (.clientConnected(process: 2, name: "a"), .info, "process 2 (a) has connected"),
            (.clientGone(process: 2, name: "a", reason: nil), .info, "process 2 (a) has disconnected"),
            (.clientGone(process: 2, name: "a", reason: "killed"), .notice, "process 2 (a) is disconnected: killed"),
            (.clientRefused(process: 2, reason: "another user's"), .warning, "process 2 is refused: another user's"),
            (
                .dropping(process: 2, name: "a"), .warning,
                "process 2 (a) reads too slowly: notifications for it are dropped"
            ),
            (
                .dropped(process: 2, name: "a", count: 3), .warning,
                "process 2 (a) has read what waited; 3 notifications were dropped"
            ),
            (.stopping(reason: "asked to"), .notice, "stopping: asked to"),
        ]
        for (event, level, text) in entries {
            XCTAssertEqual(event.logEntry.level, level)
            XCTAssertEqual(event.logEntry.text, text)
        }
        XCTAssertEqual(ServerEvent.outOfDescriptors.logEntry.level, .error)
        XCTAssertEqual(LogLevel.allCases.sorted(), LogLevel.allCases)
    }
}
