import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// XCTest runs these tests one at a time; the tracer belongs to the process.
final class CenterClosingTests: XCTestCase {
    private let directory = ServerDirectory(path: "/nonexistent/directory")

    func testATracerMayUseTheCenterDuringClose() throws {
        let center = try DistributedCenter(directory: directory)
        let token = try center.addObserver(forName: Notification.Name("Closing")) { _ in }
        let servers = Locked<[Int32?]>([])
        DeliveryEvent.tracer = { event in
            guard event.stage == .remove, event.name?.rawValue == "Closing" else { return }
            let server = center.serverProcess
            servers.withLock { $0.append(server) }
        }
        defer { DeliveryEvent.tracer = nil }
        let closed = expectation(description: "closed")
        Thread {
            center.close()
            closed.fulfill()
        }.start()
        wait(for: [closed], timeout: TestTimeout.seconds)
        XCTAssertEqual(servers.withLock { $0 }, [nil])
        withExtendedLifetime(token) {}
    }

    /// A wait would last an hour.
    func testAClosedCenterDoesNothing() throws {
        let center = try DistributedCenter(directory: directory)
        for _ in 0..<2 {
            center.close()
            assertThrows(DistributedError.closed) { try center.synchronize(timeout: .seconds(3600)) }
            assertThrows(DistributedError.closed) { try center.post(name: Notification.Name("Closing")) }
            assertThrows(DistributedError.closed) {
                try center.addObserver(forName: Notification.Name("Closing")) { _ in }
            }
        }
    }

    func testATokenOfAnotherCenterHasNoEffect() throws {
        let (center, other) = (try DistributedCenter(directory: directory), try DistributedCenter(directory: directory))
        let tokens = [
            try center.addObserver(forName: .numbered) { _ in }, center.addConnectionObserver { _ in },
        ]
        for (remover, isEmpty) in [(other, false), (center, true)] {
            for token in tokens { remover.removeObserver(token) }
            let connection = center.connection
            XCTAssertEqual([connection.observers.isEmpty, connection.events.isEmpty], [isEmpty, isEmpty])
        }
    }
}
