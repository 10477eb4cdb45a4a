import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("reasons")

/// What the events of a removal say.
final class EventReasonTests: XCTestCase {
    private final class Object: Sendable {
        func handle(_ notification: Notification) {}
    }

    func testARemovalIsCancelledByACallAndReleasedWithTheToken() throws {
        let (center, object) = (ThreadedNotificationCenter(), Object())
        func observe() -> ObserverToken { center.addObserver(forName: posted, on: .current) { _ in } }
        func sequence() -> NotificationSequence<String> {
            center.notifications(named: posted, transform: { $0.name.rawValue })
        }
        let removals: [(reason: DeliveryEvent.Reason, () throws -> Void)] = [
            (.cancelled, { observe().cancel() }),
            (.cancelled, { try observe().cancelAndWait(timeout: TestTimeout.hang) }),
            (.cancelled, { center.removeObserver(observe()) }),
            (
                .cancelled,
                {
                    center.addObserver(object, forName: posted, on: .current) { $0.handle($1) }
                    center.removeObserver(object)
                }
            ),
            (.cancelled, { sequence().cancel() }),
            (.released, { _ = observe() }),
            (.released, { _ = RunLoopThread(name: "released").addEndObserver(on: .current) { _ in } }),
            (.released, { _ = sequence().makeAsyncIterator() }),
        ]
        for (index, (reason, remove)) in removals.enumerated() {
            let reasons = try tracing(remove).filter { $0.stage == .remove }.map(\.reason)
            XCTAssertEqual(reasons, [reason], "\(index)")
        }
    }
}
