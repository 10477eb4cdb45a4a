import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

private final class Link: Sendable {}

/// A message with the name of its type.
private struct Changed: NotificationCenter.AsyncMessage, Equatable {
    typealias Subject = Link
    let state: Int
}

/// A message that is converted to and from a notification.
private struct Converted: NotificationCenter.AsyncMessage, NotificationConvertible, Equatable {
    typealias Subject = Link
    let state: Int

    static let name = Notification.Name("converted")

    static func makeMessage(_ notification: Notification) -> Converted? {
        (notification.userInfo?["state"] as? Int).map(Converted.init)
    }

    static func makeNotification(_ message: Converted) -> Notification {
        Notification(name: name, userInfo: ["state": message.state])
    }
}

/// A message of the main actor.
private struct Shown: NotificationCenter.MainActorMessage {
    typealias Subject = Link
    let state: Int
}

/// Questions about observers of messages, and the latest message of a type.
final class LatestMessageTests: XCTestCase {
    private let center = ThreadedNotificationCenter()
    private let link = Link()

    private let receiving = ObserverOptions(receivesLatest: true)

    /// Keeps the latest message of a type.
    private func keep<Message: NotificationCenter.AsyncMessage>(
        _ type: Message.Type, of center: ThreadedNotificationCenter
    ) -> ObserverToken {
        center.addObserver(for: type, on: .postingThread, options: receiving) { (_: Message) in }
    }

    /// The messages that a new observer gets.
    private func seen<Message: NotificationCenter.AsyncMessage & Equatable>(
        _ type: Message.Type, of center: ThreadedNotificationCenter
    ) -> [Message] {
        let messages = Locked<[Message]>([])
        let token = center.addObserver(for: type, on: .postingThread, options: receiving) { message in
            messages.withLock { $0.append(message) }
        }
        token.cancel()
        return messages.withLock { $0 }
    }

    func testALateObserverGetsTheLatestMessage() {
        let keeping = keep(Changed.self, of: center)
        for state in 1...2 { center.post(Changed(state: state), subject: link) }
        XCTAssertEqual(seen(Changed.self, of: center), [Changed(state: 2)])
        keeping.cancel()
        XCTAssertEqual(seen(Changed.self, of: center), [])
    }

    func testALateObserverOfMessagesGetsTheLatestNotificationAndOneOfNotificationsTheLatestMessage() {
        let keeping = keep(Converted.self, of: center)
        center.post(Converted(state: 1), subject: link)
        let states = Locked<[Int?]>([])
        let late = center.addObserver(forName: Converted.name, on: .postingThread, options: receiving) { notification in
            states.withLock { $0.append(notification.userInfo?["state"] as? Int) }
        }
        XCTAssertEqual(states.withLock { $0 }, [1])
        center.post(name: Converted.name, userInfo: ["state": 2])
        XCTAssertEqual(seen(Converted.self, of: center), [Converted(state: 2)])
        center.post(name: Converted.name)
        XCTAssertEqual(seen(Converted.self, of: center), [], "no message can be made of it")
        for token in [keeping, late] { token.cancel() }
    }

    @MainActor
    func testTheLatestMessageOfTheMainActorIsDeliveredOnTheMainThread() {
        let keeping = center.addObserver(for: Shown.self, options: receiving) { (_: Shown) in }
        center.post(Shown(state: 1), subject: link)
        var states: [Int] = []
        let token = center.addObserver(of: link, for: Shown.self, options: receiving) { states.append($0.state) }
        XCTAssertEqual(states, [])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(states, [1])
        for token in [keeping, token] { token.cancel() }
        XCTAssertFalse(center.hasObservers(for: Shown.self))
    }

    /// Foundation on Linux ends the process if an observer of notifications meets a message of the same name.
    func testARetainedMessageDoesNotDisturbMessagesOfFoundation() {
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        let changed = keep(Changed.self, of: center)
        foundation.post(Changed(state: 1), subject: link)
        XCTAssertEqual(seen(Changed.self, of: center), [])
        XCTAssertEqual(center.registrations.captured, 0)
        let converted = keep(Converted.self, of: center)
        foundation.post(name: Converted.name, object: nil, userInfo: ["state": 1])
        XCTAssertEqual(seen(Converted.self, of: center), [Converted(state: 1)])
        for token in [changed, converted] { token.cancel() }
        XCTAssertEqual(center.registrations.captured, 0)
    }
}
