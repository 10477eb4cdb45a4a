import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import ThreadedNotifications
import XCTest

@testable import notify_demo

/// The text and JSON output of `observe`.
final class ObservedEventTests: XCTestCase {
    private func event(
        _ name: String, object: String? = nil, userInfo: [String: PropertyListValue]? = nil, by sender: String? = "make"
    ) -> ObservedEvent {
        let notification = DistributedNotification(
            name: Notification.Name(name), object: object, userInfo: userInfo, sender: 4711)
        let main = ThreadIdentity(number: 1, name: "main", kernelID: 7)
        var event = ObservedEvent(notification, senderName: sender, thread: main)
        event.wall = 1_455_401_112_856_999_999
        return event
    }

    func testANotificationIsALineInWhichForeignTextCannotControlATerminalOrLookLikeAnotherPart() throws {
        for (event, text) in [
            (event("done"), "make[4711] → 1 main: done"),
            (event("done", userInfo: [:], by: nil), "[4711] → 1 main: done with {}"),
            (
                event("done", object: "Kitchen", userInfo: ["b": .boolean(true), "a": .integer(3)]),
                #"make[4711] → 1 main: done of "Kitchen" with {"a":3,"b":true}"#
            ),
            (event("a b", object: "", by: "x\n\u{202E}"), #"x\u000a\u202e[4711] → 1 main: "a b" of """#),
            (
                event("a\u{1B}[31m\"", userInfo: ["k\u{85}": .string("\u{2028}\u{E0001}\n\u{7F}é")]),
                #"make[4711] → 1 main: "a\u001b[31m\"" with {"k\u0085":"\u2028\udb40\udc01\n\u007fé"}"#
            ),
        ] {
            XCTAssertEqual(event.line(DocumentStyle(timeZone: .gmt)), "2016-02-13 22:05:12.856 \(text)")
        }
    }

    func testAnEventIsAFlatObjectWithoutNilValuesAndAConnectionEventHasALineOfItsOwn() throws {
        let full = event(
            "done", object: "Kitchen", userInfo: ["bytes": .data(Data([0, 255])), "none": .real(.nan)])
        XCTAssertEqual(
            try JSONText.of(full),
            #"{"kind":"notification","name":"done","object":"Kitchen","process":4711,"processName":"make","#
                + #""thread":{"kernelID":7,"name":"main","number":1},"userInfo":{"bytes":"AP8=","none":"nan"},"#
                + #""wall":1455401112856999999}"#)
        let cases: [(ConnectionEvent, String, String)] = [
            (
                .gap(NotificationGap(count: 1, cause: .slow)),
                "gap: not delivered: 1 notification, because this process",
                #"{"cause":"slow","count":1,"kind":"gap","#
            ),
            (
                .interrupted(reason: "a \"b\""), "interrupted: a \"b\"; an unknown number of notifications was lost",
                #"{"kind":"interrupted","reason":"a \"b\"","#
            ),
            (.connected(serverProcess: 5), "connected: server 5", #"{"kind":"connected","serverProcess":5,"#),
            (
                .failed(.closed), "failed: the center was closed.",
                #"{"kind":"failed","problem":"the center was closed."#
            ),
        ]
        for (happened, text, json) in cases {
            let event = ObservedEvent(happened)
            XCTAssertTrue(event.text.hasPrefix(text), event.text)
            let object = try JSONText.of(event)
            XCTAssertTrue(object.hasPrefix(json) && object.hasSuffix(#""wall":\#(event.wall)}"#), object)
        }
    }
}
