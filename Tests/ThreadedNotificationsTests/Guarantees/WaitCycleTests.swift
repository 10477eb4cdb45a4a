import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in WaitCycleTests")

/// Guarantee 13: a wait that would close a cycle of waiting threads fails at once.
final class WaitCycleTests: XCTestCase {
    private let timeout = TestTimeout.hang

    private let note = Notification(name: posted)

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

    func testACycleThroughATransformIsFound() throws {
        let center = ThreadedNotificationCenter()
        let hasBegun = DispatchSemaphore(value: 0)
        let outcome = Locked<String?>(nil)
        let token = center.addObserver(
            forName: posted, on: .main,
            transform: { [timeout] _ -> Int? in
                hasBegun.signal()
                do {
                    try MainThread.main.performAndWait(timeout: timeout) {}
                    outcome.withLock { $0 = "done" }
                } catch {
                    outcome.withLock { $0 = "\(error)" }
                }
                return nil
            }, using: { _ in })
        let poster = Thread.posting(1) { center.post(name: posted) }
        hasBegun.wait()
        do throws(DeliveryError) {
            try token.cancelAndWait(timeout: timeout)
        } catch {
            XCTAssertEqual(error.code, .waitWouldDeadlock, "\(error)")
            while outcome.withLock({ $0 }) == nil { RunLoop.runCurrentOnce() }
        }
        poster.wait()
        let other = try XCTUnwrap(outcome.withLock { $0 })
        XCTAssertTrue(other == "done" || other.contains("would never end"), other)
    }

    func testWaitingForAHandlerThatWaitsForTheCallerFailsAtOnce() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let hasBegun = DispatchSemaphore(value: 0)
        let outcome = Locked<String?>(nil)
        let token = center.addObserver(forName: posted, on: worker) { [timeout] _ in
            hasBegun.signal()
            do {
                try MainThread.main.performAndWait(timeout: timeout) {}
                outcome.withLock { $0 = "done" }
            } catch {
                outcome.withLock { $0 = "\(error)" }
            }
        }
        center.post(note)
        hasBegun.wait()
        // The second of the two waits fails; the first one ends.
        do throws(DeliveryError) {
            try token.cancelAndWait(timeout: timeout)
        } catch {
            XCTAssertEqual(error.code, .waitWouldDeadlock, "\(error)")
            XCTAssertEqual(error.waits.count, 2)
            while outcome.withLock({ $0 }) == nil { RunLoop.runCurrentOnce() }
        }
        try worker.stopAndWait()
        let other = try XCTUnwrap(outcome.withLock { $0 })
        XCTAssertTrue(other == "done" || other.contains("would never end"), other)
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
