import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import ThreadedNotifications
import XCTest

@testable import notify_demo

/// The texts and JSON of `observe` and `serve --status`.
final class ObservingTests: XCTestCase {
    private func event(
        _ name: String, object: String? = nil, userInfo: [String: PropertyListValue]? = nil,
        by sender: String? = "make",
        from origin: DistributedNotification.Origin? = nil
    ) -> ObservedEvent {
        let notification = DistributedNotification(
            name: Notification.Name(name), object: object, userInfo: userInfo, origin: origin, sender: 4711)
        let main = ThreadIdentity(number: 1, name: "main", kernelID: 7)
        var event = ObservedEvent(notification, senderName: sender, thread: main)
        event.wall = 1_455_401_112_856_999_999
        return event
    }

    func testAnEventIsALineInWhichForeignTextCannotControlATerminalAndAFlatObjectWithoutNilValues() throws {
        for (event, text) in [
            (event("done"), "make[4711] → 1 main: done"),
            (event("done", userInfo: [:], by: nil), "[4711] → 1 main: done with {}"),
            (event("done", from: .init(machine: "d\u{1B}", user: "anna")), #"anna@d\u001b → 1 main: done"#),
            (event("a b", object: "", by: "x\n\u{202E}"), #"x\u000a\u202e[4711] → 1 main: "a b" of """#),
            (
                event("a\u{1B}[31m\"", userInfo: ["k\u{85}": .string("\u{2028}\u{E0001}\n\u{7F}é")]),
                #"make[4711] → 1 main: "a\u001b[31m\"" with {"k\u0085":"\u2028\udb40\udc01\n\u007fé"}"#
            ),
        ] { XCTAssertEqual(event.line(DocumentStyle(timeZone: .gmt)), "2016-02-13 22:05:12.856 \(text)") }
        XCTAssertEqual(
            try JSONText.of(event("done", object: "Kitchen", userInfo: ["b": .data(Data([255])), "n": .real(.nan)])),
            #"{"kind":"notification","name":"done","object":"Kitchen","process":4711,"processName":"make","#
                + #""thread":{"kernelID":7,"name":"main","number":1},"userInfo":{"b":"/w==","n":"nan"},"#
                + #""wall":1455401112856999999}"#)
        for (happened, text, json) in [
            (
                .gap(NotificationGap(count: 1, cause: .slow)), "gap: not delivered: 1 notification, slow",
                #"{"cause":"slow","count":1,"kind":"gap","#
            ),
            (
                .interrupted(reason: "a \"b\""), "interrupted: a \"b\"; notifications may be lost",
                #"{"kind":"interrupted","reason":"a \"b\"","#
            ),
            (.connected(serverProcess: 5), "connected: server 5", #"{"kind":"connected","serverProcess":5,"#),
            (
                .failed(.closed), "failed: the center was closed.",
                #"{"kind":"failed","problem":"the center was closed."#
            ),
        ] as [(ConnectionEvent, String, String)] {
            let event = ObservedEvent(happened)
            XCTAssertTrue(event.text.hasPrefix(text), event.text)
            let object = try JSONText.of(event)
            XCTAssertTrue(object.hasPrefix(json) && object.hasSuffix(#""wall":\#(event.wall)}"#), object)
        }
    }

    /// Decoded from JSON, because only a server can create a status.
    func testTheServerAndItsClientsHaveARowOfNumbersThatAddUpAndEachObserverAndDetailHasOne() throws {
        func numbers(_ counts: Int...) -> String {
            let names = [
                "posted", "matched", "delivered", "heldEntries", "dropped", "discarded", "coalesced", "suppressed",
                "removed",
            ]
            return zip(names, counts).map { #""\#($0)": \#($1)"# }.joined(separator: ", ") + #", "heldBytes": 7"#
        }
        let problem = "no server answered at nats://127.0.0.1:4222 for 30 s"
        let details = #"""
            {"beyond": "–", "connected to": "nats://127.0.0.1:4222", "problem": "\#(problem) since then",
            "posts out": "12", "invalid": "a\u001b"}
            """#
        let status = try JSONDecoder().decode(
            ServerStatus.self,
            from: Data(
                #"""
                {"process": 4711, "directory": "/run/\n", "nanoseconds": 12500000000,
                 \#(numbers(12, 57, 34, 3, 5, 6, 4, 3, 2)), "clients": [
                 {"process": 51, "name": "make\u001b", "isConnected": true, "isSuspended": true, "details": {}, \#(numbers(0, 9, 1, 2, 1, 1, 1, 1, 2)),
                  "waitingBytes": 9, "observers": [
                    {"name": "done", "object": "Kitchen", "behavior": "hold"}, {"behavior": "deliverImmediately"}]},
                 {"process": 52, "name": "bridge", "isConnected": true, "isSuspended": false,
                  "details": \#(details), \#(numbers(0, 0, 0, 0, 0, 0, 0, 0, 0)), "waitingBytes": 0, "observers": []},
                 {"process": 53, "name": "bridge", "isConnected": false, "isSuspended": false, "details": {},
                  \#(numbers(0, 3, 0, 3, 0, 0, 0, 0, 0)), "waitingBytes": 0, "observers": []}]}
                """#.utf8))
        XCTAssertEqual(
            status.report(width: 80).joined(separator: "\n"),
            #"""
            server 4711, running for 12.5 s, at /run/\u000a

            process                   posted  matched  delivered  held  dropped  not held
            all                           12       57         34     3        5        15
            51 make\u001b, suspended       –        9          1     2        1         5
            52 bridge                      –        –          –     –        –         –
            53 bridge                      –        3          –     3        –         –

            observed by  behavior            notification
                     51  hold                done of "Kitchen"
                     51  deliverImmediately  any name of any object

            details of
                    52  beyond         –
                    52  connected to   nats://127.0.0.1:4222
                    52  invalid        a\u001b
                    52  posts out      12
                    52  problem        \#(problem)
                                       since then
                    53  not connected  what it observes waits until it connects again
            """#)
        let object = try JSONText.of(status)
        XCTAssertTrue(object.contains(#""details":{"beyond":"–","connected to":"nats://127.0.0.1:4222","#), object)
    }
}
