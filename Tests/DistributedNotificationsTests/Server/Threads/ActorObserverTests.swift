import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

final class ActorObserverTests: XCTestCase {
    func testHandlersAreIsolatedToActorsAndMayBeAsync() throws {
        let temporary = try TemporaryDirectory()
        let server = try ServerInThisProcess(temporary)
        let center = try DistributedCenter(directory: temporary.directory)
        let worker = try RunLoopThread.started("worker")
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
        center.close()
        try worker.stopAndWait()
        withExtendedLifetime((server, tokens)) {}
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
