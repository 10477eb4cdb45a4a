import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The examples of later deliveries and of drain budgets in the article *Recipes*.
final class LaterExamples: ExampleTestCase {
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
}
