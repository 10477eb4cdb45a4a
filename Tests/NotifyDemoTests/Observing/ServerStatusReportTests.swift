import DeliveryRecording
import DistributedNotifications
import Foundation
import Testing

@testable import notify_demo

@Suite("Server status report")
struct ServerStatusReportTests {
    /// Decoded from JSON, because only a server can create one.
    private func status(_ clients: String = "") throws -> ServerStatus {
        try JSONDecoder().decode(
            ServerStatus.self,
            from: Data(
                """
                {"processID": 4711, "directory": "/run/user/1000/notify-demo", "seconds": 12.5, "posted": 12,
                 "delivered": 34, "dropped": 5, "discarded": 6, "heldBytes": 700, "clients": [\(clients)]}
                """.utf8))
    }

    private func client(
        _ id: Int, name: String = "make", isSuspended: Bool = false, count: Int = 0, waiting: Int = 0, held: Int = 0,
        observers: String = ""
    ) -> String {
        """
        {"processID": \(id), "name": "\(name)", "isSuspended": \(isSuspended), "posted": \(count), "delivered": \(count),
         "dropped": \(count), "discarded": \(count), "waitingBytes": \(waiting), "heldEntries": \(held),
         "heldBytes": \(held * 100), "observers": [\(observers)]}
        """
    }

    @Test("clients, queues and registrations have a table each")
    func tables() throws {
        let observers = """
            {"name": "done", "object": "Kitchen", "behavior": "hold"}, {"behavior": "deliverImmediately"}
            """
        let status = try status(
            [client(50, count: 3), client(51, name: "observe", isSuspended: true, held: 7, observers: observers)]
                .joined(separator: ","))
        #expect(
            ServerStatusReport(status).text(width: 80).joined(separator: "\n") == """
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

    @Test("empty tables are sentences")
    func empty() throws {
        #expect(ServerStatusReport(try status()).text(width: 80).suffix(2) == ["", "no process is connected"])
        let lines = ServerStatusReport(try status(client(1))).text(width: 80)
        #expect(lines.contains("no notifications are waiting or held"))
        #expect(lines.contains("no observers"))
    }

    @Test("only a word that is longer than the line exceeds 80 columns, and it stays in one piece")
    func width() throws {
        let long = String(repeating: "n", count: 255)
        let words = Array(repeating: "word", count: 100).joined(separator: " ")
        let observers = """
            {"name": "\(long)", "object": "\(words)", "behavior": "deliverImmediately"},
            {"name": "\(words)", "behavior": "drop"}
            """
        let status = try status(
            client(
                4_194_303, name: words, isSuspended: true, count: 999_999_999_999, waiting: 1_048_576, held: 1024,
                observers: observers))
        let lines = ServerStatusReport(status).text(width: 80)
        #expect(lines.filter { $0.count > 80 }.map { $0.trimmingCharacters(in: .whitespaces) } == [long])
        #expect(lines.joined(separator: " ").components(separatedBy: "word").count - 1 == 400)
    }

    @Test("without a width a registration is one line, and control characters are escaped")
    func wide() throws {
        let observers = #"{"name": "\u001b[2J a", "object": "\n", "behavior": "drop"}"#
        let lines = ServerStatusReport(try status(client(1, name: #"\u0007"#, observers: observers))).text(width: .max)
        #expect(lines.last == #"      1      drop  "\u001b[2J a" of "\u000a""#)
        #expect(lines.joined().utf8.allSatisfy { $0 >= 0x20 })
    }
}
