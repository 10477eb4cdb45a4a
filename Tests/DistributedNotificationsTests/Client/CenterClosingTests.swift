import Dispatch
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// XCTest runs these tests one at a time; the tracer belongs to the process.
final class CenterClosingTests: XCTestCase {
    func testATracerMayUseTheCenterDuringClose() throws {
        let center = try DistributedCenter(directory: ServerDirectory(path: "/nonexistent/directory"))
        let token = try center.addObserver(forName: Notification.Name("Closing")) { _ in }
        let states = Locked<[ConnectionState]>([])
        DeliveryEvent.tracer = { event in
            guard event.stage == .remove, event.name?.rawValue == "Closing" else { return }
            let state = center.connectionState
            states.withLock { $0.append(state) }
        }
        defer { DeliveryEvent.tracer = nil }
        let closed = expectation(description: "closed")
        Thread {
            center.close()
            closed.fulfill()
        }.start()
        wait(for: [closed], timeout: TestTimeout.seconds)
        XCTAssertEqual(states.withLock { $0 }, [.closed])
        withExtendedLifetime(token) {}
    }

    /// A wait would last an hour.
    func testAClosedCenterDoesNotSynchronize() throws {
        let center = try DistributedCenter(directory: ServerDirectory(path: "/nonexistent/directory"))
        for _ in 0..<2 {
            center.close()
            XCTAssertThrowsError(try center.synchronize(timeout: .seconds(3600))) {
                XCTAssertEqual($0 as? DistributedError, .closed)
            }
            XCTAssertThrowsError(try center.post(name: Notification.Name("Closing"))) {
                XCTAssertEqual($0 as? DistributedError, .closed)
            }
            XCTAssertThrowsError(try center.addObserver(forName: Notification.Name("Closing")) { _ in }) {
                XCTAssertEqual($0 as? DistributedError, .closed)
            }
        }
    }

    func testATokenOfAnotherCenterHasNoEffect() throws {
        let directory = ServerDirectory(path: "/nonexistent/directory")
        let (center, other) = (try DistributedCenter(directory: directory), try DistributedCenter(directory: directory))
        let observer = try center.addObserver(forName: Notification.Name("Closing")) { _ in }
        let connectionObserver = center.addConnectionObserver { _ in }
        func observers() throws -> (notifications: Bool, events: Bool) {
            let connection = center.connection
            return (!connection.observers.isEmpty, !connection.events.isEmpty)
        }
        for token in [observer, connectionObserver] {
            other.removeObserver(token)
        }
        XCTAssertTrue(try observers() == (true, true))
        center.removeObserver(observer)
        XCTAssertTrue(try observers() == (false, true))
        center.removeObserver(connectionObserver)
        XCTAssertTrue(try observers() == (false, false))
    }
}
