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

    /// The messages that a new observer gets.
    private func seen<Message: NotificationCenter.AsyncMessage & Equatable>(_ type: Message.Type) -> [Message] {
        let messages = Locked<[Message]>([])
        let token = center.addObserver(for: type, on: .postingThread) { message in
            messages.withLock { $0.append(message) }
        }
        token.cancel()
        return messages.withLock { $0 }
    }

    func testALateObserverGetsTheLatestMessage() {
        center.retainLatest(for: Changed.self)
        for state in 1...2 { center.post(Changed(state: state), subject: link) }
        XCTAssertEqual(seen(Changed.self), [Changed(state: 2)])
        XCTAssertEqual(center.latest(for: Changed.self), Changed(state: 2))
        center.removeLatest(for: Changed.self)
        XCTAssertEqual(seen(Changed.self), [])
        XCTAssertNil(center.latest(for: Changed.self))
        center.post(Changed(state: 3))
        XCTAssertEqual(seen(Changed.self), [Changed(state: 3)])
        center.stopRetainingLatest(for: Changed.self)
        center.post(Changed(state: 4))
        XCTAssertNil(center.latest(for: Changed.self))
    }

    func testAMessageIsRetainedAsANotificationAndANotificationAsAMessage() {
        center.retainLatest(for: Converted.self)
        center.post(Converted(state: 1), subject: link)
        XCTAssertEqual(center.latest(of: Converted.name)?.userInfo?["state"] as? Int, 1)
        center.post(name: Converted.name, userInfo: ["state": 2])
        XCTAssertEqual(center.latest(for: Converted.self), Converted(state: 2))
        XCTAssertEqual(seen(Converted.self), [Converted(state: 2)])
        center.post(name: Converted.name)
        XCTAssertNil(center.latest(for: Converted.self), "no message can be made of it")
    }

    @MainActor
    func testTheLatestMessageOfTheMainActorIsDeliveredOnTheMainThread() {
        center.retainLatest(for: Shown.self)
        center.post(Shown(state: 1), subject: link)
        XCTAssertEqual(center.latest(for: Shown.self)?.state, 1)
        var states: [Int] = []
        let token = center.addObserver(of: link, for: Shown.self) { states.append($0.state) }
        XCTAssertEqual(states, [])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(states, [1])
        token.cancel()
        center.removeLatest(for: Shown.self)
        XCTAssertNil(center.latest(for: Shown.self))
        center.stopRetainingLatest(for: Shown.self)
        XCTAssertFalse(center.hasObservers(for: Shown.self))
    }

    /// Foundation on Linux ends the process if an observer of notifications meets a message of the same name.
    func testARetainedMessageDoesNotDisturbMessagesOfFoundation() {
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        center.retainLatest(for: Changed.self)
        foundation.post(Changed(state: 1), subject: link)
        XCTAssertNil(center.latest(for: Changed.self))
        XCTAssertEqual(center.registrations.captured, 0)
        center.stopRetainingLatest(for: Changed.self)
        center.retainLatest(for: Converted.self)
        foundation.post(name: Converted.name, object: nil, userInfo: ["state": 1])
        XCTAssertEqual(center.latest(for: Converted.self), Converted(state: 1))
        center.stopRetainingLatest(for: Converted.self)
        XCTAssertEqual(center.registrations.captured, 0)
    }

    func testANameThatIsRetainedForItsMessagesIsCapturedWhenItsNotificationsAreToo() {
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        let name = Notification.Name(MessageName.typeName(Changed.self))
        for _ in 1...2 {
            center.retainLatest(for: Changed.self)
            XCTAssertEqual(center.registrations.captured, 0)
            for _ in 1...2 { center.retainLatest(of: name) }
            center.retainLatest(for: Changed.self)
            foundation.post(name: name, object: 1)
            XCTAssertEqual(center.latest(of: name)?.object as? Int, 1)
            center.stopRetainingLatest(for: Changed.self)
            XCTAssertEqual(center.registrations.captured, 0)
            XCTAssertNil(center.latest(of: name))
        }
    }

    @MainActor
    func testACenterHasObserversOfAMessageIfAPostWouldMatchOne() {
        XCTAssertFalse(center.hasObservers(for: Converted.self))
        let ofLink = center.addObserver(of: link, for: Converted.self, on: .postingThread) { (_: Converted) in }
        XCTAssertFalse(center.hasObservers(for: Converted.self))
        XCTAssertTrue(center.hasObservers(of: link, for: Converted.self))
        XCTAssertFalse(center.hasObservers(of: Link(), for: Converted.self))
        let ofName = center.addObserver(forName: Converted.name, on: .postingThread) { _ in }
        XCTAssertTrue(center.hasObservers(for: Converted.self))
        XCTAssertFalse(center.hasObservers(of: link, for: Shown.self))
        let shown = center.addObserver(for: Shown.self) { (_: Shown) in }
        XCTAssertTrue(center.hasObservers(of: link, for: Shown.self))
        for token in [ofLink, ofName, shown] { token.cancel() }
        XCTAssertFalse(center.hasObservers(of: link, for: Converted.self))
    }
}
