import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import ThreadedNotifications
import XCTest

@testable import notify_demo

/// The text and JSON output of `observe`.
final class ObservedEventTests: XCTestCase {
    private static let main = ThreadIdentity(number: 1, name: "main", kernelID: 7)

    private func event(
        _ name: String, object: String? = nil, userInfo: [String: PropertyListValue]? = nil, by sender: String? = "make"
    ) -> ObservedEvent {
        let notification = DistributedNotification(
            name: Notification.Name(name), object: object, userInfo: userInfo, sender: 4711)
        return ObservedEvent(notification, senderName: sender, thread: Self.main)
    }

    func testALineHasTheTimeTheSenderTheThreadTheNameAndTheObjectAndUserInfoIfThereAreAny() throws {
        var done = event("done")
        done.wall = 1_455_401_112_856_999_999
        XCTAssertEqual(done.line(DocumentStyle(timeZone: .gmt)), "2016-02-13 22:05:12.856 make[4711] → 1 main: done")
        XCTAssertEqual(event("done", userInfo: [:], by: nil).text, "[4711] → 1 main: done with {}")
        let object = event("done", object: "Kitchen", userInfo: ["b": .boolean(true), "a": .integer(3)])
        XCTAssertEqual(object.text, #"make[4711] → 1 main: done of "Kitchen" with {"a":3,"b":true}"#)
    }

    func testForeignTextCannotEndTheLineControlATerminalOrLookLikeAnotherPartOfTheLine() throws {
        XCTAssertTrue(event("a b", object: "").text.hasSuffix(#": "a b" of """#))
        XCTAssertTrue(event("a\n\u{1B}[31m\"\\").text.hasSuffix(#": "a\u000a\u001b[31m\"\\""#))
        XCTAssertTrue(event("a", by: "x\n\u{202E}").text.hasPrefix(#"x\u000a\u202e[4711]"#))
        let info = event("a", userInfo: ["k\u{85}": .string("\u{2028}\u{E0001}\n\u{7F}é")]).text
        XCTAssertTrue(info.hasSuffix(#" with {"k\u0085":"\u2028\udb40\udc01\n\u007fé"}"#), info)
    }

    func testAConnectionEventHasALineAndAnObjectOfItsOwnKind() throws {
        let cases: [(ConnectionEvent, String, String)] = [
            (
                .gap(NotificationGap(count: 1, cause: .slow)), "gap: 1 notification was not delivered: this process",
                #"{"cause":"slow","count":1,"kind":"gap","#
            ),
            (
                .gap(NotificationGap(count: 17, cause: .held)), "gap: 17 notifications were not delivered: while this",
                #"{"cause":"held","count":17,"kind":"gap","#
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

    func testANotificationIsAFlatObjectWithoutNilValues() throws {
        var bare = event("done", by: nil)
        bare.wall = 1
        XCTAssertEqual(
            try JSONText.of(bare),
            #"{"kind":"notification","name":"done","process":4711,"thread":{"kernelID":7,"name":"main","number":1},"#
                + #""wall":1}"#)
        let full = try JSONText.of(
            event(
                "done", object: "Kitchen",
                userInfo: [
                    "when": .date(Date(timeIntervalSince1970: 0.5)), "bytes": .data(Data([0, 255])),
                    "none": .real(.nan), "less": .real(-.infinity), "list": .array([.string("a"), .dictionary([:])]),
                ]))
        for part in [
            #""userInfo":{"bytes":"AP8=","less":"-inf","list":["a",{}],"none":"nan","#,
            #""when":"1970-01-01T00:00:00.500Z"}"#, #""object":"Kitchen","process":4711,"processName":"make""#,
        ] { XCTAssertTrue(full.contains(part), full) }
        XCTAssertFalse(full.contains("\n"))
    }
}
