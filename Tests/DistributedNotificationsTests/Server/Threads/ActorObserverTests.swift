import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// Handlers of distributed notifications that are isolated to an actor, or async.
final class ActorObserverTests: XCTestCase {
    func testHandlersAreIsolatedToActorsAndMayBeAsync() throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        let center = try DistributedCenter(directory: temporary.directory)
        let worker = RunLoopThread(name: "worker")
        try worker.start()
        let account = Account(worker)
        let model = MainActor.assumeIsolated { Model() }
        let handled = expectation(description: "handled")
        handled.expectedFulfillmentCount = 3
        let tokens = [
            try center.addObserver(forName: .numbered) { _ in
                model.count += 1
                handled.fulfill()
            },
            try center.addObserver(forName: .numbered, on: .main) { _ in
                model.count += 1
                handled.fulfill()
            },
            try center.addObserver(forName: .numbered) { _ in
                await account.add()
                handled.fulfill()
            },
        ]
        try center.post(name: .numbered)
        wait(for: [handled], timeout: TestTimeout.seconds)
        XCTAssertEqual(MainActor.assumeIsolated { model.count }, 2)
        XCTAssertEqual(
            try worker.performAndWait(timeout: TestTimeout.hang) { account.assumeIsolated { $0.count } }, 1)
        for token in tokens { token.cancel() }
        center.close()
        worker.stop()
        try worker.waitUntilFinished(timeout: TestTimeout.hang)
        withExtendedLifetime(server) {}
    }
}

@MainActor
private final class Model {
    var count = 0
}

private actor Account {
    private let thread: RunLoopThread
    var count = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ thread: RunLoopThread) {
        self.thread = thread
    }

    func add() { count += 1 }
}
