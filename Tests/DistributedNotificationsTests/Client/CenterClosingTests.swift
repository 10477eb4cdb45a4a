import Dispatch
import DistributedNotifications
import Foundation
import ThreadedNotifications
import XCTest

/// XCTest, since the tracer is the process's.
final class CenterClosingTests: XCTestCase {
    func testATracerMayAskTheCenterThatIsClosed() throws {
        let center = DistributedCenter(place: ServerPlace(directory: "/nonexistent/place"))
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
        wait(for: [closed], timeout: TestLimit.seconds)
        XCTAssertEqual(states.withLock { $0 }, [.closed])
        withExtendedLifetime(token) {}
    }
}
