import DeliveryDiagnostics
import DeliveryRecording
import DistributedNotifications
import Foundation
import Testing
import ThreadedNotifications

@testable import notify_demo

/// Tests the text and JSON output of `observe`.
@Suite("Observed events")
struct ObservedEventTests {
    private static let main = ThreadIdentity(number: 1, name: "main", kernelID: 7)
    private let style = ObservedEventStyle(timeZone: .gmt)

    private func event(_ kind: ObservedEvent.Kind) -> ObservedEvent {
        ObservedEvent(wallNanoseconds: 1_455_401_112_856_999_999, kind: kind)
    }

    private func line(
        _ name: String, object: String? = nil, userInfo: [String: PropertyListValue]? = nil, by sender: String? = "make"
    ) throws -> String {
        let notification = DistributedNotification(
            name: Notification.Name(name), object: object, userInfo: userInfo, sender: 4711)
        return try style.line(for: event(.notification(notification, senderName: sender, thread: Self.main)))
    }

    @Test("a line has the time, the sender, the thread, the name, and the object and userInfo if there are any")
    func lines() throws {
        #expect(try line("done") == "2016-02-13 22:05:12.856 make[4711] → 1 main: done")
        #expect(
            try line("done", object: "Kitchen", userInfo: ["b": .boolean(true), "a": .integer(3)]).hasSuffix(
                #" make[4711] → 1 main: done of "Kitchen" with {"a":3,"b":true}"#))
        #expect(try line("done", userInfo: [:], by: nil).hasSuffix(" [4711] → 1 main: done with {}"))
    }

    @Test("foreign text cannot end the line, control a terminal, or look like another part of the line")
    func foreign() throws {
        #expect(try line("a b", object: "").hasSuffix(#": "a b" of """#))
        #expect(try line("a\n\u{1B}[31m\"\\").hasSuffix(#": "a\u000a\u001b[31m\"\\""#))
        #expect(try line("a", by: "x\n\u{202E}").hasSuffix(#" x\u000a\u202e[4711] → 1 main: a"#))
        let info = try line("a", userInfo: ["k\u{85}": .string("\u{2028}\u{E0001}\n\u{7F}é")])
        #expect(info.hasSuffix(#" with {"k\u0085":"\u2028\udb40\udc01\n\u007fé"}"#), "\(info)")
        let json = info.components(separatedBy: " with ")[1]
        let read = try JSONDecoder().decode([String: String].self, from: Data(json.utf8))
        #expect(read == ["k\u{85}": "\u{2028}\u{E0001}\n\u{7F}é"])
    }

    @Test(
        "connection events have a line each",
        arguments: [
            (.gap(NotificationGap(count: 1, cause: .slow)), "gap: 1 notification was not delivered: this process"),
            (
                .gap(NotificationGap(count: 17, cause: .held)),
                "gap: 17 notifications were not delivered: while this process was suspended"
            ),
            (.interrupted(reason: "killed"), "interrupted: killed; an unknown number of notifications was lost"),
            (.connected(serverProcess: 5), "connected: server 5 has registered the observers"),
            (.failed(.closed), "failed: the center was closed."),
        ] as [(ConnectionEvent, String)])
    func connection(happened: ConnectionEvent, says: String) throws {
        let line = try style.line(for: event(.connection(happened)))
        #expect(line.hasPrefix("2016-02-13 22:05:12.856 \(says)"), "\(line)")
    }

    @Test("each cause of a gap has its own description")
    func causes() throws {
        let lines = try NotificationGap.Cause.allCases.map {
            try style.line(for: event(.connection(.gap(NotificationGap(count: 2, cause: $0)))))
        }
        #expect(Set(lines).count == NotificationGap.Cause.allCases.count)
    }

    @Test("a notification is a flat object without nil values")
    func json() throws {
        let bare = DistributedNotification(name: Notification.Name("done"), sender: 4711)
        #expect(
            try JSONText.of(event(.notification(bare, senderName: nil, thread: Self.main))) == #"""
                {"kind":"notification","name":"done","sender":4711,"thread":{"kernelID":7,"name":"main","number":1},\#
                "wallNanoseconds":1455401112856999999}
                """#)
        let full = DistributedNotification(
            name: Notification.Name("done"), object: "Kitchen",
            userInfo: [
                "when": .date(Date(timeIntervalSince1970: 0.5)), "bytes": .data(Data([0, 255])), "none": .real(.nan),
                "less": .real(-.infinity), "half": .real(0.5), "list": .array([.string("a"), .dictionary([:])]),
            ], sender: 1)
        let text = try JSONText.of(event(.notification(full, senderName: "make", thread: Self.main)))
        #expect(
            text.contains(
                #"""
                "userInfo":{"bytes":"AP8=","half":0.5,"less":"-Infinity","list":["a",{}],"none":"NaN",\#
                "when":"1970-01-01T00:00:00.500Z"}
                """#), "\(text)")
        #expect(text.contains(#""object":"Kitchen","sender":1,"senderName":"make""#))
        #expect(!text.contains("\n"))
    }

    @Test("connection events have their own kinds")
    func lossesAsJSON() throws {
        func text(_ happened: ConnectionEvent) throws -> String { try JSONText.of(event(.connection(happened))) }
        let time = #""wallNanoseconds":1455401112856999999}"#
        #expect(
            try text(.gap(NotificationGap(count: 17, cause: .slow, observers: [1: 17])))
                == #"{"cause":"slow","count":17,"kind":"gap",\#(time)"#)
        #expect(try text(.interrupted(reason: "a \"b\"")) == #"{"kind":"interrupted","reason":"a \"b\"",\#(time)"#)
        #expect(try text(.connected(serverProcess: 5)) == #"{"kind":"connected","serverProcess":5,\#(time)"#)
        #expect(try text(.failed(.closed)).hasPrefix(#"{"kind":"failed","problem":"the center was closed. "#))
    }
}
