import DeliveryDiagnostics
import DistributedNotifications
import Foundation
import ThreadedNotifications
import XCTest

@testable import notify_demo

/// The text and JSON output of `observe`.
final class ObservedEventTests: XCTestCase {
    private static let main = ThreadIdentity(number: 1, name: "main", kernelID: 7)
    private static let time = #""wall":1455401112856999999}"#

    private func event(_ kind: ObservedEvent.Kind) -> ObservedEvent {
        ObservedEvent(wallNanoseconds: 1_455_401_112_856_999_999, kind: kind)
    }

    private func line(_ kind: ObservedEvent.Kind) throws -> String {
        try event(kind).line(DocumentStyle(timeZone: .gmt))
    }

    private func line(
        _ name: String, object: String? = nil, userInfo: [String: PropertyListValue]? = nil, by sender: String? = "make"
    ) throws -> String {
        let notification = DistributedNotification(
            name: Notification.Name(name), object: object, userInfo: userInfo, sender: 4711)
        return try line(.notification(notification, senderName: sender, thread: Self.main))
    }

    func testALineHasTheTimeTheSenderTheThreadTheNameAndTheObjectAndUserInfoIfThereAreAny() throws {
        XCTAssertEqual(try line("done"), "2016-02-13 22:05:12.856 make[4711] → 1 main: done")
        let full = try line("done", object: "Kitchen", userInfo: ["b": .boolean(true), "a": .integer(3)])
        XCTAssertTrue(full.hasSuffix(#" make[4711] → 1 main: done of "Kitchen" with {"a":3,"b":true}"#), full)
        XCTAssertTrue(try line("done", userInfo: [:], by: nil).hasSuffix(" [4711] → 1 main: done with {}"))
    }

    func testForeignTextCannotEndTheLineControlATerminalOrLookLikeAnotherPartOfTheLine() throws {
        XCTAssertTrue(try line("a b", object: "").hasSuffix(#": "a b" of """#))
        XCTAssertTrue(try line("a\n\u{1B}[31m\"\\").hasSuffix(#": "a\u000a\u001b[31m\"\\""#))
        XCTAssertTrue(try line("a", by: "x\n\u{202E}").hasSuffix(#" x\u000a\u202e[4711] → 1 main: a"#))
        let info = try line("a", userInfo: ["k\u{85}": .string("\u{2028}\u{E0001}\n\u{7F}é")])
        XCTAssertTrue(info.hasSuffix(#" with {"k\u0085":"\u2028\udb40\udc01\n\u007fé"}"#), info)
        let json = info.components(separatedBy: " with ")[1]
        let read = try JSONDecoder().decode([String: String].self, from: Data(json.utf8))
        XCTAssertEqual(read, ["k\u{85}": "\u{2028}\u{E0001}\n\u{7F}é"])
    }

    func testAConnectionEventHasALineAndAnObjectOfItsOwnKind() throws {
        let cases: [(ConnectionEvent, String, String)] = [
            (
                .gap(NotificationGap(count: 1, cause: .slow, observers: [1: 17])),
                "gap: 1 notification was not delivered: this process", #"{"cause":"slow","count":1,"kind":"gap","#
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
            let line = try line(.connection(happened))
            XCTAssertTrue(line.hasPrefix("2016-02-13 22:05:12.856 \(text)"), line)
            let object = try JSONText.of(event(.connection(happened)))
            XCTAssertTrue(object.hasPrefix(json) && object.hasSuffix(Self.time), object)
        }
        let causes = try NotificationGap.Cause.allCases.map { try line(.connection(.gap(.init(count: 2, cause: $0)))) }
        XCTAssertEqual(Set(causes).count, NotificationGap.Cause.allCases.count)
    }

    func testANotificationIsAFlatObjectWithoutNilValues() throws {
        let bare = DistributedNotification(name: Notification.Name("done"), sender: 4711)
        XCTAssertEqual(
            try JSONText.of(event(.notification(bare, senderName: nil, thread: Self.main))),
            #"{"kind":"notification","name":"done","process":4711,"thread":{"kernelID":7,"name":"main","number":1},"#
                + Self.time)
        let full = DistributedNotification(
            name: Notification.Name("done"), object: "Kitchen",
            userInfo: [
                "when": .date(Date(timeIntervalSince1970: 0.5)), "bytes": .data(Data([0, 255])), "none": .real(.nan),
                "less": .real(-.infinity), "half": .real(0.5), "list": .array([.string("a"), .dictionary([:])]),
            ], sender: 1)
        let text = try JSONText.of(event(.notification(full, senderName: "make", thread: Self.main)))
        for part in [
            #""userInfo":{"bytes":"AP8=","half":0.5,"less":"-inf","list":["a",{}],"none":"nan","#,
            #""when":"1970-01-01T00:00:00.500Z"}"#, #""object":"Kitchen","process":1,"processName":"make""#,
        ] { XCTAssertTrue(text.contains(part), text) }
        XCTAssertFalse(text.contains("\n"))
    }
}
