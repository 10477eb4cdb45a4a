import Foundation
import Glibc
import RunLoopIntegration
import SharedTesting
import Synchronization
import ThreadedNotifications
import XCTest

/// The examples of the article *Recipes* about actors, later deliveries, questions about observers, and other main loops.
final class RecipeExamples: ExampleTestCase {
    func testAnActorsOwnCode() async throws {
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))

        // example: begin
        actor Reader {
            nonisolated let thread = RunLoopThread(name: "reader")
            nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
            private(set) var lines: [String] = []

            func observe(_ name: Notification.Name, of center: ThreadedNotificationCenter) -> ObserverToken {
                center.addObserver(forName: name, on: .current) { notification in
                    if let line = notification.object as? String { self.lines.append(line) }
                }
            }
        }

        let reader = Reader()
        try reader.thread.start()
        let reading = await reader.observe(name, of: center)
        // example: end

        center.post(name: name, object: "one")
        center.post(name: name, object: "two")
        let lines = await reader.lines
        XCTAssertEqual(lines, ["one", "two"])
        reading.cancel()
        reader.thread.stop()
    }

    func testAsyncHandlers() throws {
        let isLoaded = expectation(description: "the last was loaded")
        @Sendable func print(_ line: String) {
            printed.add(line)
            if line == "loaded abc" { isLoaded.fulfill() }
        }
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))

        // example: begin
        let loading = center.addObserver(
            forName: name, options: ObserverOptions(overflow: .keepLatest),
            transform: { $0.userInfo?["title"] as? String },
            using: { title in
                try? await Task.sleep(for: .milliseconds(100))  // the asynchronous work
                await MainActor.run { print("loaded \(title)") }
            })
        for title in ["a", "ab", "abc"] { center.post(name: name, userInfo: ["title": title]) }
        // example: end

        wait(for: [isLoaded], timeout: TestTimeout.seconds)
        loading.cancel()
        XCTAssertEqual(printed.lines.last, "loaded abc")
        XCTAssertEqual(loading.counters.total, 3)
    }

    func testAHandlerAfterTheCodeThatPosts() throws {
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))

        // example: begin
        let closing = center.addObserver(
            forName: name, on: .main, options: ObserverOptions(sameThread: .later)
        ) { _ in print("3: the window has closed") }

        center.post(name: name)
        try MainThread.main.performLater { print("4: performed") }
        print("1: posted")
        print("2: \(closing.counters.waiting) waits")
        // example: end

        let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while printed.lines.count < 4, Date() < deadline { _ = RunLoop.main.run(mode: .default, before: deadline) }
        XCTAssertEqual(printed.lines, ["1: posted", "2: 1 waits", "3: the window has closed", "4: performed"])
        closing.cancel()
    }

    func testAFloodBesideTimersAndInput() {
        let worker = RunLoopThread(name: "worker")
        let before = MainThread.main.drainBudget
        defer { MainThread.main.drainBudget = before }

        // example: begin
        MainThread.main.drainBudget = .time(.milliseconds(4))
        worker.drainBudget = DrainBudget(deliveries: 100, time: .milliseconds(20))
        // example: end

        XCTAssertEqual(MainThread.main.drainBudget.time, .milliseconds(4))
        XCTAssertEqual(worker.drainBudget.deliveries, 100)
    }

    func testTheLatestNotificationForLateObservers() throws {
        let center = ThreadedNotificationCenter()
        let worker = try started("worker")

        // example: begin
        let connection = Notification.Name("ConnectionChanged")
        let latest = ObserverOptions(receivesLatest: true)
        let keeping = center.addObserver(forName: connection, on: .postingThread, options: latest) { _ in }
        center.post(name: connection, object: "online")

        let late = center.addObserver(
            forName: connection, on: worker, options: latest, transform: { $0.object as? String },
            using: { state in print("the connection is \(state)") })
        // example: end

        try end(worker)
        XCTAssertEqual(printed.lines, ["the connection is online"])
        XCTAssertEqual([keeping, late].map(\.counters.delivered), [1, 1])
    }

    func testQuestionsAboutObservers() {
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))

        // example: begin
        final class Window {
            var isClosed = false
        }
        let window = Window()
        center.addObserver(window, forName: name, on: .current) { window, _ in window.isClosed = true }

        if center.hasObservers(of: name) { center.post(name: name, userInfo: ["report": "a long one"]) }
        for observer in center.observers { print(observer) }
        center.removeObserver(window)  // or removeObserver(window, name: name)
        print("\(center.hasObservers(of: name))")
        // example: end

        XCTAssertTrue(window.isClosed)
        XCTAssertEqual(printed.lines.count, 2)
        XCTAssertEqual(printed.lines.first?.contains(" of WindowWillClose on main, "), true, "\(printed.lines)")
        XCTAssertEqual(printed.lines.first?.hasSuffix("; 1: delivered 1"), true, "\(printed.lines)")
        XCTAssertEqual(printed.lines.last, "false")
    }

    func testAnotherMainLoop() throws {
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))
        nonisolated(unsafe) var isOpen = true  // On the main thread only.
        Thread.detachNewThread { center.post(name: name) }
        // Posted again, because the observer may not be there yet.
        let timer = Timer(fire: .now, interval: 0.01, repeats: true) { _ in center.post(name: name) }
        RunLoop.main.add(timer, forMode: .common)

        // example: begin
        let closing = center.addObserver(forName: name, on: .main) { _ in isOpen = false }
        try RunLoopDescriptor.run { descriptor in
            var watched = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            while isOpen {
                if poll(&watched, 1, -1) > 0 { descriptor.drain() }
            }
        }
        // example: end

        XCTAssertFalse(isOpen)
        timer.invalidate()
        closing.cancel()
    }

    func testADescriptorThatAThreadWatches() throws {
        let worker = try started("worker")
        var ends: [CInt] = [-1, -1]
        XCTAssertEqual(pipe(&ends), 0)
        let (input, output) = (ends[0], ends[1])
        _ = fcntl(input, F_SETFL, O_NONBLOCK)
        let received = Mutex<[UInt8]>([])

        // example: begin
        let watch = try worker.watch(input, for: .read) {
            var byte: UInt8 = 0
            while read(input, &byte, 1) == 1 { received.withLock { $0.append(byte) } }
        }
        // example: end

        XCTAssertEqual(write(output, "hello", 5), 5)
        let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
        while received.withLock({ $0.count }) < 5, Date() < deadline { sched_yield() }
        XCTAssertEqual(received.withLock { $0 }, Array("hello".utf8))
        watch.cancel()
        try end(worker)
        close(input)
        close(output)
    }
}
