import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The README's code, compiled with the public interface only.
final class ReadmeExampleTests: XCTestCase {
    private let printed = PrintedLines()

    @MainActor
    func testTheProgramsOutputIsRight() throws {
        let printed = printed
        @Sendable func print(_ line: String) { printed.add(line) }

        // README: begin
        let center = ThreadedNotificationCenter.default
        let name = Notification.Name("WindowWillClose")
        let worker = RunLoopThread(name: "worker")
        try worker.start()

        let onWorker = center.addObserver(forName: name, on: worker) { notification in
            print("\(notification.name.rawValue) is handled on \(ThreadIdentity.current)")
        }
        var isOver = false
        let onMain = center.addObserver(forName: name, on: .current) { _ in
            print("and on \(ThreadIdentity.current)")
            isOver = true
        }

        try worker.perform { NotificationCenter.default.post(name: name, object: nil) }
        while !isOver, RunLoop.main.run(mode: .default, before: .distantFuture) {}

        worker.stop()
        try worker.waitUntilFinished(timeout: .seconds(5))
        // README: end

        XCTAssertEqual(printed.lines.count, 2)
        XCTAssertEqual(printed.lines.last { $0.hasPrefix("and") }, "and on {number = 1, name = main}")
        XCTAssertEqual(printed.lines.filter { $0.hasSuffix(", name = worker}") }.count, 1)
        for token in [onWorker, onMain] { token.cancel() }
    }

    func testTheHandlersOutputIsRight() throws {
        let printed = printed
        @Sendable func print(_ line: String) { printed.add(line) }
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("title"))

        // README: begin
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
        // README: end

        XCTAssertEqual(printed.lines, ["the title is Untitled", "only the latest title", "3 of 3 have handled it"])
        XCTAssertEqual(closed, 1)
        for token in [title, counter, latest] { XCTAssertEqual(token.counters.delivered, 1) }
    }

    func testTheBlocksOutputIsRight() throws {
        let printed = printed
        @Sendable func print(_ line: String) { printed.add(line) }
        @Sendable func send(_ first: String, _ last: String, _ company: String) -> Int { 3 }

        // README: begin
        let networkThread = RunLoopThread(name: "network")
        try networkThread.start()
        let (firstName, lastName, companyName) = ("Ada", "Lovelace", "Analytical Engines")

        try networkThread.perform {
            _ = send(firstName, lastName, companyName)
        }
        let sent = try networkThread.performAndWait(timeout: .seconds(5)) {
            send(firstName, lastName, companyName)
        }
        print("\(sent) fields were sent on the network thread")
        try networkThread.perform(after: .seconds(60)) { print("a minute later") }.cancel()
        // README: end

        XCTAssertEqual(printed.lines, ["3 fields were sent on the network thread"])
        networkThread.stop()
        try networkThread.waitUntilFinished(timeout: TestTimeout.hang)
    }

    func testTheActorsOutputIsRight() throws {
        let printed = printed
        @Sendable func print(_ line: String) { printed.add(line) }
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("line"))
        let worker = RunLoopThread(name: "worker")
        try worker.start()

        // README: begin
        actor Parser {
            let thread: RunLoopThread
            var lines: [String] = []
            nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

            init(on thread: RunLoopThread) { self.thread = thread }
        }
        let parser = Parser(on: worker)
        let parsing = try center.addObserver(
            forName: name, isolatedTo: parser, transform: { $0.object as? String },
            using: { parser, line in parser.lines.append(line) })  // on the actor's thread, without a hop

        let lines = center.notifications(
            named: name, buffer: .bufferingNewest(100), transform: { $0.object as? String })
        let reading = Task {
            for await line in lines { print("read \(line)") }
        }
        try center.postAndWait(Notification(name: name, object: "GET /"), timeout: .seconds(5))
        // README: end

        lines.cancel()
        let (isRead, count) = (expectation(description: "read"), expectation(description: "counted"))
        Task {
            await reading.value
            isRead.fulfill()
            let lines = await parser.lines
            XCTAssertEqual(lines, ["GET /"])
            count.fulfill()
        }
        wait(for: [isRead, count], timeout: TestTimeout.seconds)
        XCTAssertEqual(printed.lines, ["read GET /"])
        parsing.cancel()
        worker.stop()
    }

    func testTheQueuesOutputIsRight() {
        // On a new thread, because its default queue is unused.
        Thread.posting(1) { [printed] in Self.enqueue(printed) }.wait()
        XCTAssertEqual(printed.lines, ["500: waiting 1, coalesced 499", "flushed once"])
    }

    private static func enqueue(_ printed: PrintedLines) {
        func print(_ line: String) { printed.add(line) }
        let center = ThreadedNotificationCenter(capturing: .default)

        // README: begin
        let queue = PostingQueue.default  // this thread's, for NotificationCenter.default
        let flush = Notification.Name("FlushTheServer")
        let server = center.addObserver(forName: flush, on: .current) { _ in print("flushed once") }

        for _ in 1...500 {
            queue.enqueue(Notification(name: flush), postingStyle: .asap)  // or .now, or .whenIdle
        }
        print("\(queue.counters)")
        while queue.counters.waiting > 0, RunLoop.current.run(mode: .default, before: .distantFuture) {}
        // README: end

        XCTAssertEqual("\(queue.counters)", "500: delivered 1, coalesced 499")
        server.cancel()
    }

    func testTheRedirectingObserversOutputIsRight() throws {
        let printed = printed
        @Sendable func print(_ line: String) { printed.add(line) }
        let worker = RunLoopThread(name: "worker")
        try worker.start()
        let name = Notification.Name("WindowWillClose")

        // README: begin
        let observer = RedirectingObserver { notification in
            print("\(notification.name.rawValue) is handled on \(ThreadIdentity.current)")
        }
        try worker.perform { observer.setUpThreadingSupport() }
        let token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) {
            observer.processNotification($0)
        }
        NotificationCenter.default.post(name: name, object: nil)
        // README: end

        worker.stop()
        try worker.waitUntilFinished(timeout: .seconds(5))
        NotificationCenter.default.removeObserver(token)
        try expectPrinted(1, "WindowWillClose is handled on {number = ", ", name = worker}")
    }

    func testTheReadmeHasTheCodeOfThisFile() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let here = source.components(separatedBy: "        // README: begin\n").dropFirst().map { section in
            (section.components(separatedBy: "        // README: end\n").first ?? "").split(
                separator: "\n", omittingEmptySubsequences: false
            ).dropLast().map { $0.dropFirst(8) + "\n" }.joined()
        }
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let readme = try String(contentsOf: root.appending(component: "README.md"), encoding: .utf8)
        // DistributedNotificationsTests compiles the code of the section Between processes.
        let sections = readme.components(separatedBy: "\n## ").filter { !$0.hasPrefix("Between processes\n") }
        let shown = sections.joined().components(separatedBy: "```swift\n").dropFirst().map { block in
            // A test function cannot contain imports.
            (block.components(separatedBy: "```\n").first ?? "")
                .replacing("import Foundation\nimport ThreadedNotifications\n\n", with: "")
        }
        XCTAssertEqual(shown.count, 6)
        for code in shown { XCTAssertTrue(here.contains(code), "no test compiles this:\n\(code)") }
    }

    private func expectPrinted(_ count: Int, _ prefix: String, _ suffix: String) throws {
        XCTAssertEqual(printed.lines.count, count)
        let line = try XCTUnwrap(printed.lines.first)
        XCTAssertTrue(line.hasPrefix(prefix), line)
        XCTAssertTrue(line.hasSuffix(suffix), line)
    }
}

private final class PrintedLines: @unchecked Sendable {
    // Safety: the lock guards the lines.
    private let lock = NSLock()
    private var stored: [String] = []

    var lines: [String] { lock.withLock { stored } }

    func add(_ line: String) { lock.withLock { stored.append(line) } }
}
