import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("isolated")

/// Handlers and blocks that are isolated to the main actor, or to an actor on a thread.
final class ActorHandlerTests: XCTestCase {
    func testHandlersAndBlocksForTheMainThreadAreIsolatedToTheMainActor() throws {
        let center = ThreadedNotificationCenter()
        let window = MainActor.assumeIsolated {
            let window = Window()
            center.addObserver(window, forName: posted, on: .current) { $0.show($1) }
            return window
        }
        let count = Locked(0)
        let sendable: @Sendable (Notification) -> Void = { _ in count.withLock { $0 += 1 } }
        let tokens = [
            center.addObserver(forName: posted, on: .main) { _ in window.titles.append("notification") },
            center.addObserver(forName: posted, on: .main, using: window.show),
            center.addObserver(forName: posted, on: .main, using: sendable),
            center.addObserver(forName: posted, on: .main, transform: Self.title) { window.titles.append($0) },
        ]
        Thread.posting(1) {
            center.post(name: posted, object: "title")
            try? MainThread.main.perform { window.titles.append("block") }
            try? MainThread.main.performLater { window.titles.append("later") }
        }.wait()
        RunLoop.runCurrentOnce()
        let titles = try MainThread.main.performAndWait(timeout: TestTimeout.hang) { window.titles }
        XCTAssertEqual(titles, ["shown", "notification", "shown", "title", "block", "later"])
        XCTAssertEqual(count.withLock { $0 }, 1)
        let delayed = expectation(description: "delayed")
        try MainThread.main.perform(after: .zero) {
            window.titles = []
            delayed.fulfill()
        }
        wait(for: [delayed], timeout: TestTimeout.seconds)
        for token in tokens { token.cancel() }
    }

    func testAHandlerForTheMainThreadIsReleasedThere() {
        let center = ThreadedNotificationCenter()
        let releasedOn = Locked<[Int]>([])
        func observe() -> ObserverToken {
            let recorder = ReleaseRecorder {
                let number = ThreadIdentity.current.number
                releasedOn.withLock { $0.append(number) }
            }
            return center.addObserver(forName: posted, on: .main) { _ in _ = recorder }
        }
        let token = observe()
        Thread.posting(1) { token.cancel() }.wait()
        XCTAssertEqual(releasedOn.withLock { $0 }, [])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(releasedOn.withLock { $0 }, [1])
    }

    func testAnActorsHandlersAreIsolatedToItAndReleasedOnItsThread() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let account = Account(worker)
        let released = expectation(description: "released")
        try worker.performAndWait(timeout: TestTimeout.hang) {
            account.assumeIsolated { account in
                account.token = account.observe(center) {
                    XCTAssertTrue(worker.isCurrent)
                    released.fulfill()
                }
            }
        }
        let other = center.addObserver(
            forName: posted, isolatedTo: account, transform: { $0.object as? Int },
            using: { account, amount in account.amounts.append(amount) })
        for amount in 1...3 { center.post(name: posted, object: amount) }
        let isAsked = expectation(description: "asked")
        Task {
            let (balance, amounts) = await (account.balance, account.amounts)
            XCTAssertEqual(balance, 6, "the task's job was enqueued after the notifications")
            XCTAssertEqual(amounts, [1, 2, 3])
            await account.token?.cancel()
            isAsked.fulfill()
        }
        wait(for: [isAsked], timeout: TestTimeout.seconds)
        other.cancel()
        wait(for: [released], timeout: TestTimeout.seconds)
        try worker.stopAndWait()
    }

    private static let title: @Sendable (Notification) -> String? = { $0.object as? String }
}

@MainActor
private final class Window {
    var titles: [String] = []

    func show(_: Notification) { titles.append("shown") }
}

private actor Account {
    private let thread: RunLoopThread
    private(set) var balance = 0
    var amounts: [Int] = []
    var token: ObserverToken?

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ thread: RunLoopThread) {
        self.thread = thread
    }

    func observe(
        _ center: ThreadedNotificationCenter, whenReleased: @escaping @Sendable () -> Void
    ) -> ObserverToken {
        let notSendable = Ledger(recorder: ReleaseRecorder(whenReleased))
        return center.addObserver(forName: posted, on: .current) { notification in
            notSendable.sum += notification.object as? Int ?? 0
            self.balance = notSendable.sum
        }
    }
}

private final class Ledger {
    var sum = 0
    private let recorder: ReleaseRecorder

    init(recorder: ReleaseRecorder) {
        self.recorder = recorder
    }
}
