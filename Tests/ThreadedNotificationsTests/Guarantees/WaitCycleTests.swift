import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in WaitCycleTests")

/// Guarantee 13: a wait that would close a cycle of waiting threads fails at once.
final class WaitCycleTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testAWaitThatWouldCloseACycleFailsAtOnceAndNamesTheCycle() throws {
        let (a, b) = (try RunLoopThread.started("A"), try RunLoopThread.started("B"))
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(forName: posted, on: .main) { _ in }
        let error = Locked<DeliveryError?>(nil)
        let result = try a.performAndWait(timeout: timeout) { [timeout] in
            try b.performAndWait(timeout: timeout) {
                do throws(DeliveryError) {
                    // main waits for A, A for B, and B would wait for main.
                    try center.postAndWait(Notification(name: posted), timeout: timeout)
                } catch let deadlock {
                    error.withLock { $0 = deadlock }
                }
                return "B went on"
            } + ", A too"
        }
        XCTAssertEqual(result, "B went on, A too")
        let deadlock = try XCTUnwrap(error.withLock { $0 })
        XCTAssertEqual(deadlock.code, .waitWouldDeadlock, "\(deadlock)")
        let cycle = deadlock.waits
        XCTAssertEqual(cycle.map(\.thread.name), ["B", "main", "A"])
        XCTAssertTrue(cycle.allSatisfy { $0.file.hasSuffix("WaitCycleTests.swift") && $0.line > 0 })
        XCTAssertEqual(Set(cycle.map(\.line)).count, 3)
        XCTAssertTrue(cycle[0].waitsFor.contains("{number = 1, name = main} to handle posted"), cycle[0].waitsFor)
        XCTAssertEqual(token.counters.total, 0, "nothing was posted")
        try a.stopAndWait()
        try b.stopAndWait()
    }

    func testWaitingForAHandlerOrTransformThatWaitsForTheCallerFailsAtOnce() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        for isTransform in [true, false] {
            let hasBegun = DispatchSemaphore(value: 0)
            let isOver = expectation(description: "its wait is over")
            let code = Locked<DeliveryError.Code?>(nil)
            let waits: @Sendable () -> Void = { [timeout] in
                hasBegun.signal()
                do { try MainThread.main.performAndWait(timeout: timeout) {} } catch {
                    code.withLock { $0 = (error as? DeliveryError)?.code }
                }
                isOver.fulfill()
            }
            let token = center.addObserver(
                forName: posted, on: worker,
                transform: { _ in
                    if isTransform { waits() }
                    return 1
                }, using: { _ in if !isTransform { waits() } })
            try worker.perform { center.post(name: posted) }
            hasBegun.wait()
            // The second of the two waits fails; the first one ends.
            var own: DeliveryError.Code?
            do throws(DeliveryError) { try token.cancelAndWait(timeout: timeout) } catch {
                own = error.code
                XCTAssertEqual(error.waits.count, 2)
            }
            wait(for: [isOver], timeout: TestTimeout.seconds)
            XCTAssertEqual([own, code.withLock { $0 }].compactMap(\.self), [.waitWouldDeadlock])
        }
        try worker.stopAndWait()
    }

    func testWaitingForTheEndOfAThreadThatWaitsForTheCallerFailsAtOnce() throws {
        let worker = try RunLoopThread.started("worker")
        let error = try worker.performAndWait(timeout: timeout) { [timeout] () -> String in
            // main waits for the worker, the worker for a second thread, and that for the worker's end.
            let second = try RunLoopThread.started("second")
            let error = try second.performAndWait(timeout: timeout) { () -> String in
                do {
                    try worker.waitUntilFinished(timeout: timeout)
                    return "no error"
                } catch {
                    return "\(error)"
                }
            }
            try second.stopAndWait()
            return error
        }
        XCTAssertTrue(error.contains("to end"), error)
        XCTAssertTrue(error.contains("would never end"), error)
        try worker.stopAndWait()
    }
}
