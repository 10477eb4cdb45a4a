import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The examples of the article *Recipes* about actors, state on a thread, and async handlers.
final class ActorExamples: ExampleTestCase {
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
}
