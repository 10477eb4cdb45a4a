import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The recipes for the latest notification of a name, and for questions about observers.
final class QuestionExamples: ExampleTestCase {
    func testTheLatestNotificationForLateObservers() throws {
        let center = ThreadedNotificationCenter()
        let worker = RunLoopThread(name: "worker")
        try worker.start()

        // example: begin
        let connection = Notification.Name("ConnectionChanged")
        let latest = ObserverOptions(receivesLatest: true)
        let keeping = center.addObserver(forName: connection, on: .postingThread, options: latest) { _ in }
        center.post(name: connection, object: "online")

        let late = center.addObserver(
            forName: connection, on: worker, options: latest, transform: { $0.object as? String },
            using: { state in print("the connection is \(state)") })
        // example: end

        worker.stop()
        try worker.waitUntilFinished(timeout: TestTimeout.hang)
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
}
