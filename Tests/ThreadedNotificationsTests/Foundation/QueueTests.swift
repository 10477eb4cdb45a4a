import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The promises of the documents that Foundation's notification queue does not keep on Linux.
final class QueueTests: XCTestCase {
    private static let modal = RunLoop.Mode("Modal")

    private lazy var posted = PostedWords()

    /// Claims that these are all events that happen.
    private func assertStill(
        _ sentence: String, _ events: [String], in mode: RunLoop.Mode = .default, file: StaticString = #filePath,
        line: UInt = #line
    ) {
        posted.run(mode, until: events.count)
        XCTAssertEqual(posted.events, events, file: file, line: line)
        assertStill(sentence, posted.events == events, file: file, line: line)
    }

    // MARK: Order

    func testNotificationsArePostedLastInFirstOut() {
        for style in [NotificationQueue.PostingStyle.asap, .whenIdle] {
            posted.removeAll()
            for word in ["first", "second", "third"] { posted.enqueue(word, style) }
            assertStill("Notifications are posted last in, first out.", ["third", "second", "first"])
        }
    }

    func testIdleNotificationsArePostedBeforeWhatIsReady() {
        let sentence =
            "`whenIdle` notifications are posted before `asap` ones, due timers, signalled sources and blocks."
        let posted = posted
        let causes: [() -> Any?] = [
            {
                posted.enqueue("ready", .asap)
                return nil
            }, { RunLoop.addDueTimer { posted.note("ready") } },
            { RunLoop.addSignalledPort { posted.note("ready") } },
            { RunLoop.current.perform { posted.note("ready") } },
            { DispatchQueue.main.async { posted.note("ready") } },
        ]
        for cause in causes {
            posted.removeAll()
            posted.enqueue("idle", .whenIdle)
            let source = cause()
            assertStill(sentence, ["idle", "ready"])
            withExtendedLifetime(source) {}
        }
    }

    func testIdleNotificationsArePostedTogether() {
        let receiver = PortReceiver { [posted] _ in posted.note("source") }
        posted.whenPosted("idle") { [port = receiver.port] in port.signal() }
        posted.enqueue("idle", .whenIdle)
        posted.enqueue("idle", .whenIdle)
        assertStill("All `whenIdle` notifications are posted together.", ["idle", "idle", "source"])
    }

    func testIdleNotificationsArePostedByARunLoopThatReturns() {
        posted.enqueue("idle", .whenIdle)
        _ = RunLoop.current.run(mode: .default, before: .distantPast)
        posted.note("returned")
        assertStill("`whenIdle` notifications are posted by a run loop that is about to return.", ["idle", "returned"])
    }

    // MARK: Coalescing

    func testValuesAndObjectsOfSwiftClassesAreNotCoalesced() {
        final class Sender {}
        struct Value: Hashable { var number = 1 }
        for sender: Any in [Sender(), ["the", "sender"].joined(), Value()] {
            posted.removeAll()
            for word in ["1", "2"] { posted.enqueue(word, .asap, sender: sender, coalescing: .onSender) }
            posted.run(until: 2)
            assertStill(
                "Values, and objects of Swift classes, are not coalesced on the sender.",
                posted.events.sorted() == ["1", "2"])
        }
    }

    // MARK: Handlers

    func testHandlersThatUseTheQueueEndTheProgram() throws {
        let sentence = "A handler that uses the queue or runs the run loop ends the program."
        let posted = posted
        let handlers: KeyValuePairs<String, (NotificationQueue.PostingStyle, @Sendable () -> Void)> = [
            "asap": (.asap, { posted.enqueue("again", .asap) }),
            "dequeue": (
                .asap, { posted.queue.dequeueNotifications(matching: posted.notification("x"), coalesceMask: .onName) }
            ),
            "run": (
                .asap,
                {
                    let other = NotificationQueue(notificationCenter: posted.center)
                    posted.enqueue("nested", .asap, to: other)
                    _ = RunLoop.current.run(mode: .default, before: .distantPast)
                }
            ),
        ]
        for (example, (style, handler)) in handlers {
            try assertStillEnds(sentence, example) {
                posted.whenPosted("first", handler)
                posted.enqueue("first", style)
                posted.enqueue("second", style)
                posted.run(until: 10)
            }
        }
    }

    // MARK: Modes

    func testNotificationsForOtherModesThanTheDefaultModeAreNeverPosted() {
        let sentence = "`asap` and `whenIdle` notifications for a custom mode or the common modes are never posted."
        for (mode, running) in [(Self.modal, Self.modal), (.common, RunLoop.Mode.default)] {
            posted.enqueue("asap", .asap, modes: [mode])
            posted.enqueue("idle", .whenIdle, modes: [mode])
            assertStill(sentence, [], in: running)
        }
        for (running, modes, which) in [
            (.default, [.common], "the common modes"), (Self.modal, nil, "another mode than the one that runs"),
        ] as [(RunLoop.Mode, [RunLoop.Mode]?, String)] {
            posted.removeAll()
            RunLoop.addDueTimer(in: running) { [posted] in
                posted.note("timer")
                posted.enqueue("now", .now, modes: modes)
            }
            posted.run(running, until: 1)
            assertStill("`now` notifications for \(which) are never posted.", ["timer"])
        }
    }

    // MARK: Threads

    func testAQueueThatAnotherThreadUsesFirstPostsNothing() throws {
        // The observers that other queues have left on the main run loop would post for this one.
        try assertStillAlone("A queue to which another thread enqueues first never posts.") {
            let other = try RunLoopThread.started("other")
            try other.performAndWait(timeout: TestTimeout.hang) { [posted] in posted.enqueue("other's", .asap) }
            posted.enqueue("own", .asap)
            posted.run(until: 0)
            return posted.events.isEmpty
        }
    }

    func testEnqueuingOnAnotherThreadDoesNotWakeTheRunLoop() {
        posted.enqueue("own", .asap)
        posted.run(until: 1)
        let isPosted = DispatchSemaphore(value: 0)
        posted.whenPosted("other's") { isPosted.signal() }
        let isSo = whileMainThreadSleeps { [posted] in
            posted.enqueue("other's", .asap)
            return !isPosted.isSignalled(within: patience)
        }
        assertStill("What another thread enqueues does not wake the queue's run loop.", isSo)
        posted.run(until: 2)
        XCTAssertEqual(posted.events, ["own", "other's"])
    }

    func testAQueueIsNeverReleased() {
        weak var released: NotificationQueue?
        do {
            let queue = NotificationQueue(notificationCenter: posted.center)
            posted.enqueue("asap", .asap, to: queue)
            released = queue
        }
        posted.run(until: 1)
        assertStill("A queue that was used is never released.", released != nil)
    }
}

/// A notification queue of the main thread, and the words of the events on that thread.
//
// Safety: only the main thread uses it, except that another one enqueues while the main thread waits for it or sleeps.
private final class PostedWords: @unchecked Sendable {
    let center = NotificationCenter()
    let queue: NotificationQueue
    private let words = Locked<[String]>([])
    private var handlers: [String: @Sendable () -> Void] = [:]

    init() {
        queue = NotificationQueue(notificationCenter: center)
        _ = center.addObserver(forName: nil, object: nil, queue: nil) { [weak self] notification in
            let word = notification.userInfo?["word"] as? String ?? ""
            self?.note(word)
            self?.handlers.removeValue(forKey: word)?()
        }
    }

    var events: [String] { words.withLock { $0 } }

    func note(_ word: String) { words.withLock { $0.append(word) } }

    func removeAll() { words.withLock { $0 = [] } }

    /// Sets what the handler of the first notification with this word does.
    func whenPosted(_ word: String, _ handler: @escaping @Sendable () -> Void) { handlers[word] = handler }

    func notification(_ word: String, _ sender: Any? = nil) -> Notification {
        Notification(name: .test, object: sender, userInfo: ["word": word])
    }

    func enqueue(
        _ word: String, _ style: NotificationQueue.PostingStyle, to other: NotificationQueue? = nil, sender: Any? = nil,
        coalescing mask: NotificationQueue.NotificationCoalescing = [], modes: [RunLoop.Mode]? = nil
    ) {
        (other ?? queue).enqueue(notification(word, sender), postingStyle: style, coalesceMask: mask, forModes: modes)
    }

    /// Runs the run loop until there are this many events, and a few times more.
    func run(_ mode: RunLoop.Mode = .default, until count: Int) {
        // A run loop without a timer or a source returns at once.
        let timer = Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }
        RunLoop.current.add(timer, forMode: mode)
        defer { timer.invalidate() }
        let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while events.count < count, Date() < deadline { pass(mode) }
        for _ in 0..<5 { pass(mode) }
    }

    private func pass(_ mode: RunLoop.Mode) {
        _ = RunLoop.current.run(mode: mode, before: Date(timeIntervalSinceNow: 0.005))
    }
}
