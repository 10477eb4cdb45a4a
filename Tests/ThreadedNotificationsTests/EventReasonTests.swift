import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("reasons")

/// What the events of a removal and of a wait say.
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

    func testAWaitNamesTheThreadThatIsWaitedForAndTheCall() throws {
        let center = ThreadedNotificationCenter()
        let (worker, other) = (try RunLoopThread.started("waited for"), try RunLoopThread.started("other"))
        let (thread, second) = (try XCTUnwrap(worker.identity), try XCTUnwrap(other.identity))
        let (began, mayReturn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let tokens = [worker, worker, other].map { center.addObserver(forName: posted, on: $0) { _ in } }
        let running = Notification.Name("running")
        let busy = center.addObserver(forName: running, on: worker) { _ in
            began.signal()
            mayReturn.wait()
        }
        let note = Notification(name: posted)
        let waits = try tracing {
            try worker.performAndWait(timeout: TestTimeout.hang, file: "file", line: 1) {}
            try center.postAndWait(note, timeout: TestTimeout.hang, file: "file", line: 2)
            tokens[2].cancel()
            try center.postAndWait(note, timeout: TestTimeout.hang, file: "file", line: 3)
            center.post(name: running)
            began.wait()
            XCTAssertThrowsError(try busy.cancelAndWait(timeout: .zero, file: "file", line: 4))
            worker.stop()
            XCTAssertThrowsError(try worker.waitUntilFinished(timeout: .zero, file: "file", line: 5))
            mayReturn.signal()
            try worker.waitUntilFinished(timeout: TestTimeout.hang)
        }.filter { $0.stage == .wait && ($0.location?.file == "file") }
        XCTAssertEqual(waits.map(\.target), [thread, nil, thread, thread, thread])
        XCTAssertEqual(waits.map(\.location?.line), [1, 2, 3, 4, 5])
        XCTAssertEqual(
            waits.map(\.message),
            [
                "\(thread) to perform a block", "\(thread) to handle reasons and \(second) to handle reasons",
                "\(thread) to handle reasons", "the handler of observer \(busy.id) on \(thread) to return",
                "\(thread) to end",
            ])
        try other.stopAndWait()
    }
}
