import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private final class Window {}

/// Not Sendable.
private final class Frame {
    var width = 0
}

private struct Resized: NotificationCenter.MainActorMessage, NotificationConvertible {
    typealias Subject = Window
    let frame: Frame

    static let name = Notification.Name("resized")

    static func makeMessage(_ notification: Notification) -> Resized? {
        guard let width = notification.userInfo?["width"] as? Int else { return nil }
        let frame = Frame()
        frame.width = width
        return Resized(frame: frame)
    }

    static func makeNotification(_ message: Resized) -> Notification {
        Notification(name: name, userInfo: ["width": message.frame.width])
    }
}

extension NotificationCenter.MessageIdentifier where Self == NotificationCenter.BaseMessageIdentifier<Resized> {
    fileprivate static var resized: Self { .init() }
}

@MainActor
private final class Seen {
    var values: [String] = []
}

/// Messages that are posted and handled on the main actor, which is the thread of these tests.
final class MainActorMessageTests: XCTestCase {
    private let center = ThreadedNotificationCenter()

    func testAMessageIsHandledBeforePostReturnsAndNeedNotBeSendable() {
        MainActor.assumeIsolated { [center] in
            let (window, frame, seen) = (Window(), Frame(), Seen())
            let tokens = [
                center.addObserver(of: window, for: .resized) { message in message.frame.width += 1 },
                center.addObserver(for: .resized) { message in message.frame.width += 10 },
                center.addObserver(of: window, for: Resized.self) { message in message.frame.width += 100 },
                center.addObserver(for: Resized.self) { message in message.frame.width += 1000 },
                center.addObserver(forName: Resized.name, object: window, on: .current) { notification in
                    seen.values.append("width \(notification.userInfo?["width"] as? Int ?? -1)")
                },
            ]
            XCTAssertEqual(center.post(Resized(frame: frame), subject: window), DeliveryCounters(delivered: 5))
            XCTAssertEqual(frame.width, 1111)
            XCTAssertEqual(seen.values, ["width 0"], "the notification is made before anything is delivered")
            center.post(Resized(frame: frame))
            XCTAssertEqual(frame.width, 1111 + 1010)
            withExtendedLifetime(tokens) {}
        }
    }

    func testANotificationOfAnotherThreadIsHandledOnTheMainActorIfItCanBeConverted() {
        MainActor.assumeIsolated { [center] in
            let seen = Seen()
            let token = center.addObserver(for: Resized.self) { seen.values.append("width \($0.frame.width)") }
            Thread.posting(1) { [center] in
                for width in 1...2 { center.post(name: Resized.name, userInfo: ["width": width]) }
                center.post(name: Resized.name)
            }.wait()
            XCTAssertEqual(seen.values, [])
            RunLoop.runCurrentOnce()
            XCTAssertEqual(seen.values, ["width 1", "width 2"])
            XCTAssertEqual(token.counters.total, 2)
        }
    }
}
