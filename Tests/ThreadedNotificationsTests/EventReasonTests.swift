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

    private func reasons(ofRemovals body: () throws -> Void) throws -> [DeliveryEvent.Reason?] {
        try tracing(body).filter { $0.stage == .remove }.map(\.reason)
    }

    func testARemovalByACallIsCancelled() throws {
        let center = ThreadedNotificationCenter()
        let object = Object()
        let reasons = try reasons {
            let first = center.addObserver(forName: posted, on: .current) { _ in }
            first.cancel()
            first.cancel()
            let second = center.addObserver(forName: posted, on: .current) { _ in }
            try second.cancelAndWait(timeout: TestTimeout.hang)
            center.removeObserver(center.addObserver(forName: posted, on: .current) { _ in })
            center.addObserver(object, forName: posted, on: .current) { $0.handle($1) }
            center.removeObserver(object)
            let sequence = center.notifications(named: posted, transform: { $0.name.rawValue })
            sequence.cancel()
            withExtendedLifetime((first, second, sequence)) {}
        }
        XCTAssertEqual(reasons, Array(repeating: .cancelled, count: 5))
    }

    func testTheReleaseOfATokenIsReleased() throws {
        let center = ThreadedNotificationCenter()
        let worker = RunLoopThread(name: "released")
        let reasons = try reasons {
            _ = center.addObserver(forName: posted, on: .current) { _ in }
            _ = worker.addEndObserver(on: .current) { _ in }
            _ = center.notifications(named: posted, transform: { $0.name.rawValue })
            _ = center.notifications(named: posted, transform: { $0.name.rawValue }).makeAsyncIterator()
        }
        XCTAssertEqual(reasons, Array(repeating: .released, count: 4))
    }

    func testAWaitNamesTheThreadThatIsWaitedForAndTheCall() throws {
        let center = ThreadedNotificationCenter()
        let (worker, other) = (RunLoopThread(name: "waited for"), RunLoopThread(name: "other"))
        try worker.start()
        try other.start()
        let (thread, second) = (try XCTUnwrap(worker.identity), try XCTUnwrap(other.identity))
        let (began, mayReturn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let tokens = [worker, worker, other].map { center.addObserver(forName: posted, on: $0) { _ in } }
        let running = center.addObserver(forName: posted, on: worker) { [center] _ in
            began.signal()
            _ = mayReturn.wait(timeout: .now() + 60)
            withExtendedLifetime(center) {}
        }
        let note = Notification(name: posted)
        mayReturn.signal()
        let waits = try tracing {
            try worker.performAndWait(timeout: TestTimeout.hang, file: "file", line: 1) {}
            try center.postAndWait(note, timeout: TestTimeout.hang, file: "file", line: 2)
            tokens[2].cancel()
            mayReturn.signal()
            try center.postAndWait(note, timeout: TestTimeout.hang, file: "file", line: 3)
            tokens[0].cancel()
            tokens[1].cancel()
            for _ in 1...2 { began.wait() }
            center.post(note)
            began.wait()
            XCTAssertThrowsError(try running.cancelAndWait(timeout: .zero, file: "file", line: 4))
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
                "\(thread) to perform a block",
                "\(thread) to handle \(posted.rawValue) and \(second) to handle \(posted.rawValue)",
                "\(thread) to handle \(posted.rawValue)",
                "the handler of observer \(running.id) on \(thread) to return",
                "\(thread) to end",
            ])
        try other.stopAndWait()
    }
}
