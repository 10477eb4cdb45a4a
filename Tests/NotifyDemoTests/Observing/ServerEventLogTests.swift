import DistributedNotifications
import Logging
import NotificationServer
import Testing

@testable import notify_demo

@Suite("Log entries of serve")
struct ServerEventLogTests {
    @Test("connections are info or notice entries, and losses and refusals are warnings")
    func levels() {
        let levels: [(ServerEvent, Logger.Level)] = [
            (.started(place: ServerPlace(directory: "/d"), processID: 1), .notice),
            (.clientConnected(process: 2, name: "a"), .info),
            (.clientGone(process: 2, name: "a", reason: nil), .info),
            (.clientGone(process: 2, name: "a", reason: "killed"), .notice),
            (.clientRefused(process: 2, reason: "another user's"), .warning),
            (.dropping(process: 2, name: "a"), .warning), (.dropped(process: 2, name: "a", count: 3), .warning),
            (.outOfDescriptors, .error), (.stopping(reason: "asked to"), .notice),
        ]
        for (event, level) in levels { #expect(event.logEntry.level == level, "\(event)") }
    }

    @Test("an entry has the client, the number and the reason")
    func contents() {
        let dropped = ServerEvent.dropped(process: 2, name: "a", count: 3).logEntry
        #expect(dropped.metadata == ["process": "2", "name": "a", "count": "3"])
        let gone = ServerEvent.clientGone(process: 2, name: "a", reason: "killed").logEntry
        #expect(gone.message.contains("killed"))
        let started = ServerEvent.started(place: ServerPlace(directory: "/d"), processID: 1).logEntry
        #expect(started.metadata["socket"] == "/d/socket")
    }
}
