import DistributedNotifications
import Foundation
import XCTest

@testable import notify_demo

final class ServerStatusReportTests: XCTestCase {
    /// The lines of a status that is decoded from JSON, because only a server can create one.
    ///
    /// - Parameter clients: the id, the name, a number of each kind, and the observers.
    private func lines(
        _ clients: [(id: Int, name: String, count: Int, observers: String)] = [], width: Int = 80
    ) throws -> [String] {
        let texts = clients.map { client in
            let numbers = ["posted", "delivered", "dropped", "discarded", "heldEntries", "heldBytes"]
            return """
                {"process": \(client.id), "name": "\(client.name)", "isSuspended": \(client.count == 0),
                 \(numbers.map { "\"\($0)\": \(client.count)" }.joined(separator: ", ")), "waitingBytes": 0,
                 "observers": [\(client.observers)]}
                """
        }
        let status = try JSONDecoder().decode(
            ServerStatus.self,
            from: Data(
                """
                {"process": 4711, "directory": "/run/user/1000/notify-demo", "nanoseconds": 12500000000, "posted": 12,
                 "delivered": 34, "dropped": 5, "discarded": 6, "heldBytes": 700,
                 "clients": [\(texts.joined(separator: ","))]}
                """.utf8))
        return status.report(width: width)
    }

    func testClientsQueuesAndRegistrationsHaveATableEachAndEmptyTablesAreSentences() throws {
        let observers = """
            {"name": "done", "object": "Kitchen", "behavior": "hold"}, {"behavior": "deliverImmediately"}
            """
        XCTAssertEqual(
            try lines([(50, "make", 3, ""), (51, "observe", 0, observers)]).joined(separator: "\n"),
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
        XCTAssertEqual(try lines().suffix(2), ["", "no process is connected"])
        let empty = try lines([(1, "make", 0, "")])
        XCTAssertTrue(empty.contains("no notifications are waiting or held") && empty.contains("no observers"))
    }

    func testLongNamesAreWrappedBetweenWordsAndControlCharactersAreEscaped() throws {
        let words = Array(repeating: "word", count: 100).joined(separator: " ")
        let long = String(repeating: "n", count: 255)
        let observers = #"{"name": "\#(long)", "object": "\#(words)", "behavior": "drop"}"#
        let wrapped = try lines([(4_194_303, words, 999_999_999_999, observers)])
        XCTAssertEqual(wrapped.filter { $0.count > 80 }.map { $0.trimmingCharacters(in: .whitespaces) }, [long])
        let control = #"{"name": "\u001b[2J a", "object": "\n", "behavior": "drop"}"#
        let escaped = try lines([(1, #"\u0007"#, 0, control)], width: .max)
        XCTAssertEqual(escaped.last, #"      1      drop  "\u001b[2J a" of "\u000a""#)
        XCTAssertTrue(escaped.joined().utf8.allSatisfy { $0 >= 0x20 })
    }
}
