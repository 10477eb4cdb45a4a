import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The examples of the article *Recipes* about the ends of threads and of runs of the main run loop.
final class EndExamples: ExampleTestCase {
    func testTheEndOfAThread() throws {
        try MainActor.assumeIsolated {
            let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))
            let worker = try RunLoopThread.started("worker")

            // example: begin
            let ending = worker.addEndObserver(on: .main) { end in print("\(end)") }
            let search = center.addObserver(forName: name, on: worker) { _ in
                while !worker.isStopping { usleep(1000) }  // a step of the work
                print("stopped early")
                Thread.exit()  // without it, the thread performs the block below, and ends
            }
            center.post(name: name)
            try worker.perform { print("not performed") }
            worker.stop()
            MainRunLoop.run { ending.counters.delivered == 1 }
            // example: end

            search.cancel()
        }
        XCTAssertEqual(printed.lines, ["stopped early", "worker ended: 1 block lost"])
    }

    func testWaitingInATask() throws {
        let isDone = expectation(description: "done")
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))
        let worker = try RunLoopThread.started("worker")

        // example: begin
        let closing = center.addObserver(forName: name, on: worker) { _ in }
        Task {
            try await closing.cancelAndWait(timeout: .seconds(5))  // its handler does not run any more
            worker.stop()
            try await worker.waitUntilFinished(timeout: .seconds(5))
            MainRunLoop.stop()
        }
        // example: end

        Task {
            try await worker.waitUntilFinished(timeout: TestTimeout.hang)
            isDone.fulfill()
        }
        MainActor.assumeIsolated { XCTAssertEqual(MainRunLoop.run(), .stopped) }
        wait(for: [isDone], timeout: TestTimeout.seconds)
    }

    func testAMainThatRuns() {
        MainActor.assumeIsolated {
            let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))
            RunLoop.main.perform {
                DispatchQueue.global().async { for _ in 1...3 { center.post(name: name) } }
            }

            // example: begin
            var closed = 0
            let closing = center.addObserver(forName: name, on: .main) { _ in closed += 1 }
            switch MainRunLoop.run(until: { closed == 3 }, stoppingOn: [SIGINT, SIGTERM]) {
            case .conditionHeld: print("all windows are closed")
            case .stopped: print("MainRunLoop.stop() was called, on any thread")
            case .signal(let number): print("ended by signal \(number)")
            }
            // example: end

            closing.cancel()
        }
        XCTAssertEqual(printed.lines, ["all windows are closed"])
    }

    func testCtrlC() throws {
        try MainActor.assumeIsolated {
            func exit(_ status: CInt) { print("exit \(status)") }
            let (center, name) = (ThreadedNotificationCenter(), Notification.Name("WindowWillClose"))
            let worker = try RunLoopThread.started("worker")
            RunLoop.main.perform {
                center.post(name: name)
                kill(getpid(), SIGINT)
            }

            // example: begin
            let saving = center.addObserver(forName: name, on: worker) { _ in print("saved") }

            let end = MainRunLoop.run(stoppingOn: [SIGINT, SIGTERM])
            worker.stop()  // delivers the notifications that wait
            try worker.waitUntilFinished(timeout: .seconds(5))
            if case .signal(let number) = end { exit(128 + number) }
            // example: end

            saving.cancel()
        }
        XCTAssertEqual(printed.lines, ["saved", "exit 130"])
    }

    /// Compiled only: it takes a second.
    @MainActor private static func anAsyncMain() {
        // example: begin
        Task {
            try await Task.sleep(for: .seconds(1))  // the program's asynchronous work
            MainRunLoop.stop()
        }
        MainRunLoop.run(stoppingOn: [SIGINT, SIGTERM])
        // example: end
    }
}
