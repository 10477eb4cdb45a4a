import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

// example: begin
final class Letter: Sendable {}

struct Saved: NotificationCenter.AsyncMessage, NotificationConvertible {
    typealias Subject = Letter
    let title: String

    static let name = Notification.Name("LetterWasSaved")

    static func makeMessage(_ notification: Notification) -> Saved? {
        (notification.userInfo?["title"] as? String).map(Saved.init)
    }

    static func makeNotification(_ message: Saved) -> Notification {
        Notification(name: name, userInfo: ["title": message.title])
    }
}

extension NotificationCenter.MessageIdentifier where Self == NotificationCenter.BaseMessageIdentifier<Saved> {
    static var saved: Self { .init() }
}
// example: end

/// The recipe for typed messages.
final class MessageExamples: ExampleTestCase {
    func testAMessageWithASubject() throws {
        let center = ThreadedNotificationCenter()
        let worker = try started("worker")

        // example: begin
        final class Oven: Sendable {}

        struct Baked: NotificationCenter.AsyncMessage {
            typealias Subject = Oven
            let loaves: Int
        }

        let oven = Oven()
        let baking = center.addObserver(of: oven, for: Baked.self, on: worker) { message in
            print("\(message.loaves) loaves")
        }
        center.post(Baked(loaves: 3), subject: oven)
        // example: end

        try end(worker)
        XCTAssertEqual(printed.lines, ["3 loaves"])
        XCTAssertEqual(baking.counters.delivered, 1)
    }

    func testTypedMessages() throws {
        let center = ThreadedNotificationCenter()

        // example: begin
        let letter = Letter()
        let saves = center.addObserver(of: letter, for: Saved.self, on: .main) { message in
            print("\(message.title) is saved")  // on the main actor
        }
        let names = center.addObserver(forName: Saved.name, on: .postingThread) { notification in
            print("userInfo has \(notification.userInfo?["title"] ?? "no title")")
        }
        center.post(Saved(title: "Dear Ada"), subject: letter)
        center.post(name: Saved.name, object: letter, userInfo: ["title": "Dear Grace"])
        // example: end

        XCTAssertEqual(
            printed.lines,
            [
                "Dear Ada is saved", "userInfo has Dear Ada", "Dear Grace is saved", "userInfo has Dear Grace",
            ])
        for token in [saves, names] { XCTAssertEqual(token.counters.delivered, 2) }
    }

    func testMessagesAsASequence() async {
        let center = ThreadedNotificationCenter()

        // example: begin
        let latest = center.messages(for: Saved.self, bufferSize: 2)
        for title in ["first", "second", "third"] { center.post(Saved(title: title)) }
        latest.cancel()  // ends the sequence after the messages that are in the buffer
        for await message in latest { print(message.title) }
        print("\(latest.dropped) was dropped")
        // example: end

        XCTAssertEqual(printed.lines, ["second", "third", "1 was dropped"])
    }
}
