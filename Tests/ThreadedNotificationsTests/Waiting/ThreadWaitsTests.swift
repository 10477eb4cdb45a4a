import Foundation
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("waiting")

/// Which waits would never end, and which only look so (guarantee 13).
final class WaitCycleTests: XCTestCase {
    private let limit = TestLimit.hang
    private let note = Notification(name: posted)

    override func tearDown() {
        XCTAssertTrue(ThreadWaits.isEmpty, "a wait was not ended")
    }

    func testAHandlerMayWaitForItselfToReturnOnAnotherThread() throws {
        let center = ThreadedNotificationCenter()
        let (other, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let token = Locked<ObserverToken?>(nil)
        let error = Locked<String?>(nil)
        let isRunning = Atomic<Bool>(false)
        let observer = center.addObserver(forName: posted, on: .postingThread) { [limit] notification in
            if notification.object != nil {
                isRunning.store(true, ordering: .relaxed)
                other.signal()
                goOn.wait()
                isRunning.store(false, ordering: .relaxed)
                return
            }
            Thread.detachNewThread { goOn.signal() }
            do {
                try token.withLock { $0 }?.cancelAndWait(timeout: limit)
            } catch let failure {
                error.withLock { $0 = "\(failure)" }
            }
            XCTAssertFalse(isRunning.load(ordering: .relaxed))
        }
        token.withLock { $0 = observer }
        let poster = Thread.posting(1) { center.post(name: posted, object: 1) }
        other.wait()
        center.post(name: posted)
        poster.wait()
        XCTAssertEqual(error.withLock { $0 }, nil)
    }

    func testACycleThroughAMappingIsFound() throws {
        let center = ThreadedNotificationCenter()
        let began = DispatchSemaphore(value: 0)
        let outcome = Locked<String?>(nil)
        let token = center.addObserver(
            forName: posted, on: .main,
            transform: { [limit] _ -> Int? in
                began.signal()
                do {
                    try TargetThread.main.performAndWait(timeout: limit) {}
                    outcome.withLock { $0 = "done" }
                } catch {
                    outcome.withLock { $0 = "\(error)" }
                }
                return nil
            }, using: { _ in })
        let poster = Thread.posting(1) { center.post(name: posted) }
        began.wait()
        do throws(DeliveryError) {
            try token.cancelAndWait(timeout: limit)
        } catch {
            XCTAssertEqual(error.code, .waitWouldDeadlock, "\(error)")
            while outcome.withLock({ $0 }) == nil { RunLoop.runCurrentOnce() }
        }
        poster.wait()
        let other = try XCTUnwrap(outcome.withLock { $0 })
        XCTAssertTrue(other == "done" || other.contains("would never end"), other)
    }

    func testAPosterThatWasGivenRoomIsWaitingNoLonger() throws {
        let center = ThreadedNotificationCenter()
        let (poster, worker) = (try RunLoopThread.started("poster"), try RunLoopThread.started("worker"))
        let refused = Atomic<Int>.Box(0)
        let token = center.addObserver(
            forName: posted, on: worker, options: ObserverOptions(overflow: .block(capacity: 1, timeout: limit))
        ) { [limit] _ in
            do {
                try poster.performAndWait(timeout: limit) {}
            } catch {
                refused.value.add(1, ordering: .relaxed)
            }
        }
        // The poster waits for room now and then, and the worker, when it has made some, for the poster.
        for _ in 0..<500 {
            try poster.perform { center.post(name: posted) }
            try poster.perform { center.post(name: posted) }
        }
        try poster.stopAndWait()
        try worker.stopAndWait()
        XCTAssertEqual(token.counters.waiting, 0)
        // Some waits are refused rightly: while the poster waits for room, the handler cannot wait for it.
        XCTAssertEqual(token.counters.delivered + token.counters.dropped, 1000)
    }

    func testABlockingPolicyDoesNotWaitInACycle() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let token = center.addObserver(
            forName: posted, on: .main, options: ObserverOptions(overflow: .block(capacity: 1, timeout: limit))
        ) { _ in }
        // main waits for the worker, which posts to main: there is room for one.
        let reports = try worker.performAndWait(timeout: limit) {
            [center.post(name: posted), center.post(name: posted)]
        }
        XCTAssertEqual(reports, [DeliveryCounters(waiting: 1), DeliveryCounters(dropped: 1)])
        // On the target thread itself there is nobody else to make room.
        XCTAssertEqual(center.post(note), DeliveryCounters(dropped: 1))
        RunLoop.runCurrentOnce()
        XCTAssertEqual(token.counters, .init(delivered: 1, dropped: 2))
        try worker.stopAndWait()
    }

    func testWaitingForAHandlerThatWaitsForTheCallerFailsAtOnce() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let began = DispatchSemaphore(value: 0)
        let outcome = Locked<String?>(nil)
        let token = center.addObserver(forName: posted, on: worker) { [limit] _ in
            began.signal()
            do {
                try TargetThread.main.performAndWait(timeout: limit) {}
                outcome.withLock { $0 = "done" }
            } catch {
                outcome.withLock { $0 = "\(error)" }
            }
        }
        center.post(note)
        began.wait()
        // Whichever of the two waits comes second fails; the other goes on.
        do throws(DeliveryError) {
            try token.cancelAndWait(timeout: limit)
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
        let error = try worker.performAndWait(timeout: limit) { [limit] () -> String in
            // main waits for the worker; a second thread waits for main's end of the wait, and the worker for it.
            let second = try RunLoopThread.started("second")
            let error = try second.performAndWait(timeout: limit) { () -> String in
                do {
                    try worker.waitUntilFinished(timeout: limit)
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

    func testAWaitThatIsOverIsNoPartOfACycle() throws {
        let (a, b) = (try RunLoopThread.started("A"), try RunLoopThread.started("B"))
        // Each asks the other again and again, right after it was answered; never both at once for each other.
        let turns = Atomic<Int>(0)
        for _ in 0..<500 {
            try a.performAndWait(timeout: limit) {}
            try a.performAndWait(timeout: limit) { [limit] in
                try b.performAndWait(timeout: limit) { _ = turns.add(1, ordering: .relaxed) }
            }
            try b.performAndWait(timeout: limit) { [limit] in
                try a.performAndWait(timeout: limit) { _ = turns.add(1, ordering: .relaxed) }
            }
        }
        XCTAssertEqual(turns.load(ordering: .relaxed), 1000)
        try a.stopAndWait()
        try b.stopAndWait()
    }
}
