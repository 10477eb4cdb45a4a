import DeliveryRecording
import Foundation
import PostingQueues
import SharedTesting
import Testing
import ThreadedNotifications
import XCTest

/// The examples of the README and of the articles *Moving from Foundation* and *Recipes*. Each test has the lines that
/// the document has before the example, then the example, then a check of its output.
final class DeliveryExamples: ExampleTestCase {
    func testHandlersAndOptions() throws {
        // example: begin
        let center = ThreadedNotificationCenter.default
        let name = Notification.Name("WindowWillClose")
        let worker = RunLoopThread(name: "worker")
        try worker.start()
        // example: end

        // example: begin
        let title = center.addObserver(
            forName: name, on: .main,
            transform: { $0.userInfo?["title"] as? String },  // on the posting thread
            using: { title in print("the title is \(title)") })  // on the main thread

        var closed = 0
        let counter = center.addObserver(forName: name, on: .current) { _ in closed += 1 }  // here; not Sendable

        let latest = center.addObserver(
            forName: name, on: .main, options: ObserverOptions(overflow: .keepLatest)
        ) { notification in print("only the latest \(notification.name.rawValue)") }

        let report = center.post(name: name, userInfo: ["title": "Untitled"])
        print("\(report.delivered) of 3 have handled it")
        // example: end

        XCTAssertEqual(
            printed.lines, ["the title is Untitled", "only the latest WindowWillClose", "3 of 3 have handled it"])
        XCTAssertEqual(closed, 1)
        for token in [title, counter, latest] { XCTAssertEqual(token.counters.delivered, 1) }
        try end(worker)
    }

    func testBlocksForAThread() throws {
        let worker = try started("worker")

        // example: begin
        @Sendable func deliver(_ first: String, _ last: String, to company: String) -> Int { 3 }

        try worker.perform {
            _ = deliver("Ada", "Lovelace", to: "Analytical Engines")
        }
        let fields = try worker.performAndWait(timeout: .seconds(5)) {
            deliver("Grace", "Hopper", to: "Compilers")
        }
        print("\(fields) fields were delivered on the worker thread")
        try worker.perform(after: .seconds(60)) { print("a minute later") }.cancel()
        // example: end

        XCTAssertEqual(printed.lines, ["3 fields were delivered on the worker thread"])
        try end(worker)
    }

    func testActorsAndSequences() throws {
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))
        let worker = try started("worker")

        // example: begin
        actor Parser {
            let thread: RunLoopThread
            var lines: [String] = []
            nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

            init(on thread: RunLoopThread) { self.thread = thread }
        }
        let parser = Parser(on: worker)
        let parsing = center.addObserver(
            forName: name, isolatedTo: parser, transform: { $0.object as? String },
            using: { parser, line in parser.lines.append(line) })  // on the actor's thread

        let lines = center.notifications(
            named: name, bufferSize: 100, transform: { $0.object as? String })
        let reading = Task {
            for await line in lines { print("read \(line)") }
        }
        try center.postAndWait(Notification(name: name, object: "GET /"), timeout: .seconds(5))
        // example: end

        lines.cancel()
        wait { await reading.value }
        XCTAssertEqual(printed.lines, ["read GET /"])
        wait {
            let lines = await parser.lines
            XCTAssertEqual(lines, ["GET /"])
        }
        parsing.cancel()
        try end(worker)
    }

    func testTheDocumentsTechnique() throws {
        let (name, worker) = (Notification.Name("WindowWillClose"), try started("worker"))

        // example: begin
        let observer = RedirectingObserver { notification in
            print("\(notification.name.rawValue) is handled on \(ThreadIdentity.current)")
        }
        try worker.perform { observer.setUpThreadingSupport() }
        let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
            observer.processNotification($0)
        }
        NotificationCenter.default.post(name: name, object: nil)
        // example: end

        try end(worker)
        NotificationCenter.default.removeObserver(token)
        XCTAssertEqual(printed.lines.count, 1)
        XCTAssertEqual(printed.lines.first?.hasSuffix(", name = worker}"), true, "\(printed.lines)")
    }

    func testPostingLater() {
        // On a new thread, because its default queue is unused.
        let hasEnded = expectation(description: "ended")
        Thread.detachNewThread {
            Self.postLater()
            hasEnded.fulfill()
        }
        wait(for: [hasEnded], timeout: TestTimeout.seconds)
        XCTAssertEqual(printed.lines, ["500: waiting 1, coalesced 499", "flushed once"])
    }

    private static func postLater() {

        // example: begin
        let queue = PostingQueue.default  // this thread's, for NotificationCenter.default
        let flush = Notification.Name("FlushTheServer")
        let server = ThreadedNotificationCenter.default.addObserver(forName: flush, on: .current) { _ in
            print("flushed once")
        }

        for _ in 1...500 {
            queue.enqueue(Notification(name: flush), postingStyle: .asap)  // or .now, or .whenIdle
        }
        print("\(queue.counters)")
        while queue.counters.waiting > 0, RunLoop.current.run(mode: .default, before: .distantFuture) {}
        // example: end

        XCTAssertEqual("\(queue.counters)", "500: delivered 1, coalesced 499")
        server.cancel()
    }

    func testStateThatLivesOnAThread() throws {
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))

        // example: begin
        actor Account {
            nonisolated let thread = RunLoopThread(name: "account")
            nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
            private(set) var balance = 0

            func add(_ amount: Int) { balance += amount }
        }

        let account = Account()
        try account.thread.start()
        let deposits = center.addObserver(
            forName: name, isolatedTo: account, transform: { $0.object as? Int },  // on the posting thread
            using: { account, amount in account.add(amount) })  // on the actor's thread, without await
        // example: end

        try center.postAndWait(Notification(name: name, object: 5), timeout: TestTimeout.hang)
        wait {
            let balance = await account.balance
            XCTAssertEqual(balance, 5)
        }
        deposits.cancel()
        try end(account.thread)
    }

    func testTheMainActor() throws {
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))

        // example: begin
        @MainActor func show(_ title: String) { print("the title is \(title)") }
        let titles = center.addObserver(forName: name, on: .main, transform: { $0.object as? String }, using: show)
        // example: end

        center.post(name: name, object: "Untitled")
        XCTAssertEqual(printed.lines, ["the title is Untitled"])
        titles.cancel()
    }

    func testShutdown() throws {
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))
        let worker = try started("worker")

        // example: begin
        let last = center.addObserver(forName: name, on: worker) { _ in }
        worker.stop()
        try worker.waitUntilFinished(timeout: .seconds(5))
        print("\(center.post(name: name).targetGone) observer has lost its thread")
        last.cancel()  // cancelAndWait(timeout:) waits until its handler has ended
        // example: end

        XCTAssertEqual(printed.lines, ["1 observer has lost its thread"])
    }

    /// Compiled only: a recording would have the other tests' notifications.
    private func aProgramRecordsItself() throws {
        // example: begin
        try ProcessRecording.start(to: "run.jsonl")
        // example: end
    }

    private func wait(for operation: @escaping @Sendable () async -> Void) {
        let isDone = expectation(description: "done")
        Task {
            await operation()
            isDone.fulfill()
        }
        wait(for: [isDone], timeout: TestTimeout.seconds)
    }
}

@Suite("The recipe of a test")
struct TestExample {
    private let name = Notification.Name("WindowWillClose")

    // example: begin
    @Test func windowCloses() throws {
        let center = ThreadedNotificationCenter()
        let worker = RunLoopThread(name: "test")
        try worker.start()
        let closing = center.addObserver(forName: name, on: worker) { _ in }
        try center.postAndWait(Notification(name: name), timeout: .seconds(5))
        #expect(closing.counters.delivered == 1)
    }
    // example: end
}
