import DistributedNotifications
import Foundation
import XCTest

@testable import notify_demo

final class ServerStatusReportTests: XCTestCase {
    /// The lines of a status that is decoded from JSON, because only a server can create one.
    private func lines(_ clients: String = "", width: Int = 80) throws -> [String] {
        let status = try JSONDecoder().decode(
            ServerStatus.self,
            from: Data(
                """
                {"process": 4711, "directory": "/run/user/1000/notify-demo", "nanoseconds": 12500000000, "posted": 12,
                 "delivered": 34, "dropped": 5, "discarded": 6, "heldBytes": 700, "clients": [\(clients)]}
                """.utf8))
        return status.report(width: width)
    }

    private func client(
        _ id: Int, name: String = "make", isSuspended: Bool = false, count: Int = 0, held: Int = 0,
        observers: String = ""
    ) -> String {
        """
        {"process": \(id), "name": "\(name)", "isSuspended": \(isSuspended), "posted": \(count), "delivered": \(count),
         "dropped": \(count), "discarded": \(count), "waitingBytes": 0, "heldEntries": \(held),
         "heldBytes": \(held * 100), "observers": [\(observers)]}
        """
    }

    func testClientsQueuesAndRegistrationsHaveATableEach() throws {
        let observers = """
            {"name": "done", "object": "Kitchen", "behavior": "hold"}, {"behavior": "deliverImmediately"}
            """
        let suspended = client(51, name: "observe", isSuspended: true, held: 7, observers: observers)
        XCTAssertEqual(
            try lines("\(client(50, count: 3)),\(suspended)").joined(separator: "\n"),
            """
            server 4711, running for 12.5 s, at /run/user/1000/notify-demo
            12 posted, 34 delivered, 5 dropped, 6 discarded, 700 bytes held

            processes
            process  posted  delivered  dropped  discarded  name
                 50       3          3        3          3  make
                 51       –          –        –          –  observe, suspended

            queues
            process  waiting bytes  held  held bytes  name
                 51              –     7         700  observe

            registrations
            process             behavior  observed
                 51                 hold  done of "Kitchen"
                 51  deliver-immediately  any name of any object
            """)
    }

    func testEmptyTablesAreSentences() throws {
        XCTAssertEqual(try lines().suffix(2), ["", "no process is connected"])
        let lines = try lines(client(1))
        XCTAssertTrue(lines.contains("no notifications are waiting or held") && lines.contains("no observers"))
    }

    func testLongNamesAreWrappedBetweenWordsAndControlCharactersAreEscaped() throws {
        let words = Array(repeating: "word", count: 100).joined(separator: " ")
        let long = String(repeating: "n", count: 255)
        let observers = #"{"name": "\#(long)", "object": "\#(words)", "behavior": "drop"}"#
        let wrapped = try lines(client(4_194_303, name: words, count: 999_999_999_999, observers: observers))
        XCTAssertEqual(wrapped.filter { $0.count > 80 }.map { $0.trimmingCharacters(in: .whitespaces) }, [long])
        let control = #"{"name": "\u001b[2J a", "object": "\n", "behavior": "drop"}"#
        let escaped = try lines(client(1, name: #"\u0007"#, observers: control), width: .max)
        XCTAssertEqual(escaped.last, #"      1      drop  "\u001b[2J a" of "\u000a""#)
        XCTAssertTrue(escaped.joined().utf8.allSatisfy { $0 >= 0x20 })
    }
}
