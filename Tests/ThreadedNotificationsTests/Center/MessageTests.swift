import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

private final class Document: Sendable {}

private struct Saved: NotificationCenter.AsyncMessage, Equatable {
    typealias Subject = Document
    var title = "Untitled, which does not fit into a string's two words"
    var number = 0
    var size = 0.5
}

extension NotificationCenter.MessageIdentifier where Self == NotificationCenter.BaseMessageIdentifier<Saved> {
    fileprivate static var saved: Self { .init() }
}

/// A message without a class as its subject.
private struct Tick: NotificationCenter.AsyncMessage {
    typealias Subject = Int
    let number: Int
}

/// A message that is converted to and from a notification.
private struct Moved: NotificationCenter.AsyncMessage, NotificationConvertible, Equatable {
    typealias Subject = Document
    let distance: Int

    static let name = Notification.Name("moved")

    static func makeMessage(_ notification: Notification) -> Moved? {
        (notification.userInfo?["distance"] as? Int).map(Moved.init)
    }

    static func makeNotification(_ message: Moved) -> Notification {
        Notification(name: Notification.Name("ignored"), userInfo: ["distance": message.distance])
    }
}

/// Messages that are posted and observed as values of their types.
final class MessageTests: XCTestCase {
    private let timeout = TestTimeout.hang
    private let center = ThreadedNotificationCenter()
    private let document = Document()

    private func movedBy(_ distance: Int, _ object: Any? = nil) -> DeliveryCounters {
        center.post(name: Moved.name, object: object, userInfo: ["distance": distance])
    }

    // MARK: Matching, threads and order

    func testAnObserverGetsTheMessagesOfItsTypeAboutItsSubject() {
        let seen = Locked<[String]>([])
        @Sendable func see(_ label: String) -> @Sendable (Saved) -> Void {
            { message in seen.withLock { $0.append("\(label) \(message.number)") } }
        }
        let tokens = [
            center.addObserver(of: document, for: Saved.self, on: .main, using: see("type")),
            center.addObserver(of: nil, for: Saved.self, on: .postingThread, using: see("nil")),
            center.addObserver(for: Saved.self, on: .main, using: see("no subject")),
            center.addObserver(of: Document(), for: Saved.self, on: .main, using: see("other")),
        ]
        XCTAssertEqual(center.post(Saved(number: 1), subject: document), DeliveryCounters(delivered: 3))
        center.post(Saved(number: 2))
        center.post(Tick(number: 3))
        XCTAssertEqual(seen.withLock { $0 }, ["type 1", "nil 1", "no subject 1", "nil 2", "no subject 2"])
        for token in tokens { token.cancel() }
    }

    func testAsyncHandlersOfMessagesHaveTheShapesOfFoundation() throws {
        let seen = Locked<[Int]>([])
        let handle: @Sendable (Saved) async -> Void = { message in
            await Task.yield()
            seen.withLock { $0.append(message.number) }
        }
        let tokens = [
            center.addObserver(of: document, for: .saved, using: handle),
            center.addObserver(for: .saved, using: handle),
            center.addObserver(of: document, for: Saved.self, using: handle),
            center.addObserver(for: Saved.self, using: handle),
        ]
        try center.postAndWait(Saved(number: 1), subject: document, timeout: timeout)
        try center.postAndWait(Saved(number: 2), timeout: timeout)
        XCTAssertEqual(seen.withLock { $0 }, [1, 1, 1, 1, 2, 2])
        for token in tokens { token.cancel() }
    }

    // MARK: Messages and notifications

    func testObserversOfTheNameGetTheNotificationOfAMessage() throws {
        let worker = try RunLoopThread.started("worker")
        let seen = Locked<[String]>([])
        @Sendable func see(_ label: String, _ notification: Notification) {
            let distance = notification.userInfo?["distance"] as? Int ?? 0
            let hasObject = notification.object is Document
            seen.withLock { $0.append("\(label) \(notification.name.rawValue) \(distance) \(hasObject)") }
        }
        let tokens = [
            center.addObserver(forName: Moved.name, object: document, on: .main) { see("object", $0) },
            center.addObserver(forName: nil, on: .postingThread) { see("any name", $0) },
            center.addObserver(forName: Moved.name, on: .current) { see("current", $0) },
            center.addObserver(
                forName: Moved.name, on: worker, transform: { $0.userInfo?["distance"] as? Int },
                using: { distance in seen.withLock { $0.append("transform \(distance)") } }),
        ]
        try center.postAndWait(Moved(distance: 7), subject: document, timeout: timeout)
        XCTAssertEqual(
            seen.withLock { $0.filter { !$0.hasPrefix("transform") } },
            ["object moved 7 true", "any name moved 7 true", "current moved 7 true"])
        XCTAssert(seen.withLock { $0.contains("transform 7") })
        center.post(Saved(number: 1))
        XCTAssertEqual(seen.withLock { $0.last }, "any name \(_typeName(Saved.self)) 0 false")
        try worker.stopAndWait()
        withExtendedLifetime(tokens) {}
    }

    func testAnObserverOfAMessageGetsTheNotificationsOfItsNameThatCanBeConverted() throws {
        let worker = try RunLoopThread.started("worker")
        let seen = Locked<[Int]>([])
        let tokens = [
            center.addObserver(of: document, for: Moved.self, on: .main) { message in
                seen.withLock { $0.append(message.distance) }
            },
            center.addObserver(for: Moved.self, on: .postingThread) { message in
                seen.withLock { $0.append(10 * message.distance) }
            },
            center.addObserver(for: Moved.self, on: worker) { message in
                seen.withLock { $0.append(100 * message.distance) }
            },
        ]
        XCTAssertEqual(movedBy(1, document), DeliveryCounters(delivered: 2, waiting: 1))
        XCTAssertEqual(movedBy(2), DeliveryCounters(delivered: 1, waiting: 1))
        XCTAssertEqual(center.post(name: Moved.name, object: document), DeliveryCounters(), "makeMessage returns nil")
        try worker.stopAndWait()
        XCTAssertEqual(seen.withLock { $0.filter { $0 < 100 } }, [1, 10, 20])
        XCTAssertEqual(seen.withLock { $0.filter { $0 >= 100 } }, [100, 200])
        XCTAssertEqual(tokens.map(\.counters.total), [1, 2, 2])
    }

    func testALateObserverGetsTheLatestMessageOrNotificationOfTheName() {
        let receiving = ObserverOptions(receivesLatest: true)
        func latest() -> [Int] {
            let seen = Locked<[Int]>([])
            center.addObserver(for: Moved.self, on: .postingThread, options: receiving) { message in
                seen.withLock { $0.append(message.distance) }
            }.cancel()
            return seen.withLock { $0 }
        }
        let keeping = center.addObserver(for: Moved.self, on: .postingThread, options: receiving) { _ in }
        center.post(Moved(distance: 1), subject: document)
        XCTAssertEqual(latest(), [1])
        let seen = Locked<[Int?]>([])
        let late = center.addObserver(forName: Moved.name, on: .postingThread, options: receiving) { notification in
            seen.withLock { $0.append(notification.userInfo?["distance"] as? Int) }
        }
        XCTAssertEqual(seen.withLock { $0 }, [1])
        _ = movedBy(2)
        XCTAssertEqual(latest(), [2])
        center.post(name: Moved.name)
        XCTAssertEqual(latest(), [], "no message can be made of it")
        for token in [keeping, late] { token.cancel() }
    }

    // MARK: Foundation's center

    /// Foundation on Linux ends the process if an observer of a name meets an `AsyncMessage` with that name.
    func testOnlyANameThatIsNotTheTypesOwnIsCaptured() {
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        let seen = Locked<[Int]>([])
        let tokens = [
            center.addObserver(for: Saved.self, on: .postingThread) { message in
                seen.withLock { $0.append(message.number) }
            },
            center.addObserver(for: Moved.self, on: .postingThread) { message in
                seen.withLock { $0.append(message.distance) }
            },
        ]
        XCTAssertEqual(center.registrations.captured, 1)
        foundation.post(Saved(number: 1))
        foundation.post(Moved(distance: 2))
        XCTAssertEqual(seen.withLock { $0 }, [], "a message that is posted there is not captured")
        foundation.post(name: Moved.name, object: nil, userInfo: ["distance": 3])
        center.post(Saved(number: 4))
        XCTAssertEqual(seen.withLock { $0 }, [3, 4])
        for token in tokens { token.cancel() }
        XCTAssertEqual(center.registrations.captured, 0)
    }

    // MARK: Sequences

    func testASequenceHasTheMessagesAboutItsSubjectAndReportsWhatItDropped() async {
        let sequences = [
            center.messages(of: document, for: .saved, bufferSize: 2),
            center.messages(for: .saved),
            center.messages(of: document, for: Saved.self),
            center.messages(for: Saved.self),
        ]
        for number in 1...5 { center.post(Saved(number: number), subject: document) }
        center.post(Saved(number: 6))
        var seen: [[Int]] = []
        for sequence in sequences {
            sequence.cancel()
            var numbers: [Int] = []
            for await message in sequence { numbers.append(message.number) }
            seen.append(numbers)
        }
        XCTAssertEqual(seen, [[4, 5], Array(1...6), Array(1...5), Array(1...6)])
        XCTAssertEqual(sequences.map(\.dropped), [3, 0, 0, 0])
        let many = center.messages(for: Tick.self)
        for number in 1...1001 { center.post(Tick(number: number)) }
        XCTAssertEqual(many.dropped, 1, "the default buffer has room for 1,000")
    }
}
