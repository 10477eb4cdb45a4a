import DistributedNotifications
import Foundation
import XCTest

@testable import notify_demo

final class ServerStatusReportTests: XCTestCase {
    /// The lines of a status that is decoded from JSON, because only a server can create one.
    private func lines(_ clients: String, width: Int = 80) throws -> [String] {
        let status = """
            {"process": 4711, "directory": "/run/user/1000/notify-demo", "nanoseconds": 12500000000, "posted": 12,
             "delivered": 34, "dropped": 5, "discarded": 6, "heldBytes": 700, "clients": [\(clients)]}
            """
        return try JSONDecoder().decode(ServerStatus.self, from: Data(status.utf8)).report(width: width)
    }

    private func client(_ id: Int, _ name: String, _ count: Int, _ observers: String = "") -> String {
        """
        {"process": \(id), "name": "\(name)", "isSuspended": \(count == 0), "posted": \(count), "delivered": \(count),
         "dropped": \(count), "discarded": \(count), "heldEntries": \(count), "heldBytes": \(count), "waitingBytes": 0,
         "observers": [\(observers)]}
        """
    }

    func testClientsQueuesAndRegistrationsHaveATableEachAndEmptyTablesAreSentences() throws {
        let observers = """
            {"name": "done", "object": "Kitchen", "behavior": "hold"}, {"behavior": "deliverImmediately"}
            """
        XCTAssertEqual(
            try lines("\(client(50, "make", 3)), \(client(51, "observe", 0, observers))").joined(separator: "\n"),
            """
            server 4711, running for 12.5 s, at /run/user/1000/notify-demo
            12 posted, 34 delivered, 5 dropped, 6 discarded, 700 bytes held

            processes
            process  posted  delivered  dropped  discarded  name
                 50       3          3        3          3  make
                 51       –          –        –          –  observe, suspended

            queues
            process  waiting bytes  held  held bytes  name
                 50              –     3           3  make

            registrations
            process             behavior  observed
                 51                 hold  done of "Kitchen"
                 51  deliver-immediately  any name of any object
            """)
        XCTAssertEqual(try lines("").suffix(2), ["", "no process is connected"])
        let empty = try lines(client(1, "make", 0))
        XCTAssertTrue(empty.contains("no notifications are waiting or held") && empty.contains("no observers"))
        let control = #"{"name": "\u001b[2J a", "object": "\n", "behavior": "drop"}"#
        let escaped = try lines(client(1, #"\u0007"#, 0, control), width: .max)
        XCTAssertEqual(escaped.last, #"      1      drop  "\u001b[2J a" of "\u000a""#)
        XCTAssertTrue(escaped.joined().utf8.allSatisfy { $0 >= 0x20 })
    }
}
