import NotificationServer
import SharedTesting
import XCTest

@testable import DistributedNotifications

/// What became of each notification is counted, for each client and for the server.
final class ServerStatusTests: XCTestCase {
    static func assertItAddsUp(_ status: ServerStatus, _ line: UInt = #line) {
        let counts = [status.delivered, status.dropped, status.discarded, status.coalesced, status.suppressed]
        XCTAssertEqual(status.matched, counts.reduce(status.removed + status.heldEntries, +), "server", line: line)
        for client in status.clients {
            let counts = [client.delivered, client.dropped, client.discarded, client.coalesced, client.suppressed]
            XCTAssertEqual(
                client.matched, counts.reduce(client.removed + client.heldEntries, +), client.name, line: line)
        }
        XCTAssertEqual(status.heldEntries, status.clients.reduce(0) { $0 + $1.heldEntries }, line: line)
        XCTAssertEqual(status.heldBytes, status.clients.reduce(0) { $0 + $1.heldBytes }, line: line)
    }

    func testTheNumbersAddUpForEachClientAndForTheServer() throws {
        let temporary = try TemporaryDirectory()
        let server = try ServerInThisProcess(temporary) {
            ($0.heldEntriesPerClient, $0.softQueueBytes, $0.hardQueueBytes) = (3, 1000, 100_000)
        }
        let suspended = try RawPeer(temporary.directory, name: "suspended", suspended: true)
        for (number, name, behavior) in [
            (1, "coalesced", .coalesce), (2, "held", .hold), (3, "suppressed", .drop), (4, "removed", .hold),
        ] as [(UInt32, String, SuspensionBehavior)] {
            try suspended.register(number, name: name, behavior: behavior)
        }
        try suspended.synchronize()
        let slow = try RawPeer(temporary.directory, name: "slow", observing: "large")
        let poster = try RawPeer(temporary.directory, name: "poster")
        try poster.post("removed", numbers: 0..<1)
        try poster.synchronize()
        try suspended.frame(.unregister) { $0.integer(UInt32(4)) }
        try suspended.synchronize()
        for (name, count) in [("coalesced", 5), ("suppressed", 4), ("held", 6), ("unobserved", 9)] {
            try poster.post(name, numbers: 0..<count)
        }
        try poster.post("large", numbers: 0..<100, byteCount: 50_000)
        try poster.synchronize()
        let status = try temporary.status()
        Self.assertItAddsUp(status)
        XCTAssertEqual([status.posted, status.matched], [125, 116])
        let client = try temporary.client("suspended")
        XCTAssertEqual(
            [
                client.matched, client.coalesced, client.suppressed, client.discarded, client.removed,
                client.heldEntries,
            ], [16, 4, 4, 4, 1, 3])
        XCTAssertEqual(client.observers.map(\.name), ["coalesced", "held", "suppressed"])
        let dropped = try temporary.client("slow").dropped
        XCTAssertGreaterThan(dropped, 50)
        // The outcomes of a client's notifications stay in the server's numbers when it has gone.
        try suspended.frame(.farewell)
        XCTAssertEqual(try suspended.next(), .end)
        let later = try temporary.status()
        Self.assertItAddsUp(later)
        XCTAssertEqual([later.matched, later.removed, later.dropped, later.heldEntries], [116, 4, dropped, 0])
        withExtendedLifetime((server, slow)) {}
    }
}
