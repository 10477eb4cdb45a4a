import Foundation
import PostingQueues
import SharedTesting
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted in EndedThreadTests")

/// Guarantee 10: what a thread loses at its end is counted, and told.
final class EndedThreadTests: XCTestCase {
    private let timeout = TestTimeout.hang
    private let center = ThreadedNotificationCenter()
    private let told = Locked<[ThreadEnd]>([])

    private var ends: [String] { told.withLock { $0.map(\.description) } }

    private func addEndObserver(of thread: some DeliveryTarget, on target: some DeliveryTarget) -> ObserverToken {
        thread.addEndObserver(on: target) { [told] end in told.withLock { $0.append(end) } }
    }

    func testWhatWaitsForAThreadThatEndsIsCountedAndToldAndLaterCallsReportIt() throws {
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let end = addEndObserver(of: worker, on: .postingThread)
        let observers = (1...2).map { _ in
            center.addObserver(forName: posted, on: worker) { _ in XCTFail("its handler was called") }
        }
        try worker.perform { Thread.exit() }
        for _ in 1...3 { XCTAssertEqual(center.post(name: posted), DeliveryCounters(waiting: 2)) }
        let queue = PostingQueue(center: center, on: worker)
        queue.enqueue(Notification(name: posted), postingStyle: .whenIdle, coalesceMask: [], forModes: [.default])
        for _ in 1...2 { try worker.perform {} }
        resume.signal()
        try worker.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(ends, ["worker ended: 6 notifications lost, 2 blocks lost, 1 queued notification lost"])
        XCTAssertEqual(observers.map(\.counters.targetGone), [3, 3])
        XCTAssertEqual(end.counters, DeliveryCounters(delivered: 1))
        XCTAssertEqual(center.post(name: posted), DeliveryCounters(targetGone: 2))
        assertThrows(DeliveryError.threadStopped(thread: "worker")) {
            try center.postAndWait(Notification(name: posted), timeout: timeout)
        }
    }

    func testTheEndIsToldOnceAlsoLateAndNotToARemovedObserverOrOnTheThreadItself() throws {
        let (worker, busy) = (try RunLoopThread.started("worker"), try RunLoopThread.started("busy"))
        let resume = try busy.keptBusy()
        let identity = try XCTUnwrap(worker.identity)
        let removed = addEndObserver(of: worker, on: .postingThread)
        let tokens = [addEndObserver(of: worker, on: worker), addEndObserver(of: worker, on: busy)]
        removed.cancel()
        try worker.stopAndWait()
        worker.stop()
        XCTAssertEqual(ends, [])
        let late = addEndObserver(of: worker, on: .postingThread)
        XCTAssertEqual(told.withLock { $0 }, [ThreadEnd(thread: identity, name: "worker")])
        XCTAssertEqual(removed.counters, DeliveryCounters())
        // It is enqueued for the other thread before a wait for the end returns.
        XCTAssertEqual(tokens.map(\.counters), [.init(targetGone: 1), .init(waiting: 1)])
        XCTAssertEqual(late.counters, DeliveryCounters(delivered: 1))
        resume.signal()
        try busy.stopAndWait()
        XCTAssertEqual(told.withLock { $0.map(\.name) }, ["worker", "worker"])
    }

    func testTheEndIsToldAfterTheThreadHasReleasedItsHandlersAndItself() throws {
        let (released, isOver) = (Locked(false), expectation(description: "over"))
        let log = Locked<[Bool]>([])
        var token: ObserverToken?
        let resume: DispatchSemaphore
        do {
            let worker = try RunLoopThread.started("worker")
            let bound = try worker.performAndWait(timeout: timeout) { [center] in
                let recorder = ReleaseRecorder { released.withLock { $0 = true } }
                return center.addObserver(forName: posted, on: .current) { _ in _ = recorder }
            }
            bound.cancel()
            let reference = WeakReference(worker)
            token = worker.addEndObserver(on: .postingThread) { _ in
                log.withLock { $0 = [released.withLock { $0 }, reference.object == nil] }
                isOver.fulfill()
            }
            // The thread ends when this scope has released it.
            resume = try worker.keptBusy()
            worker.stop()
        }
        resume.signal()
        wait(for: [isOver], timeout: TestTimeout.seconds)
        XCTAssertEqual(log.withLock { $0 }, [true, true])
        token?.cancel()
    }

    func testAThreadThatNeverStartedEndsWhenItIsStoppedOrReleased() {
        let stopped = RunLoopThread(name: "stopped")
        var released: RunLoopThread? = RunLoopThread(name: "released")
        let tokens = [stopped, released].compactMap { $0.map { addEndObserver(of: $0, on: .postingThread) } }
        let lost = center.addObserver(forName: posted, on: stopped) { _ in }
        center.post(name: posted)
        stopped.stop()
        released = nil
        XCTAssertNil(released)
        XCTAssertEqual(
            told.withLock { $0 },
            [ThreadEnd(thread: nil, name: "stopped", lostNotifications: 1), ThreadEnd(thread: nil, name: "released")])
        XCTAssertEqual(ends.last, "released never started")
        XCTAssertEqual(tokens.map(\.counters.delivered), [1, 1])
        lost.cancel()
    }

    func testAPostDuringTheEndOfAThreadOfTheProgramsOwnIsTargetGoneAndTheEndIsTold() throws {
        for wasPosted in [false, true] {
            let tokens = Locked<[ObserverToken]>([])
            let report = Locked<DeliveryCounters?>(nil)
            let thread = try SystemThread.start { [center, told] in
                let token = center.addObserver(forName: posted, on: CurrentThread.current.targetThread) { _ in }
                let end = CurrentThread.current.addEndObserver(on: .postingThread) { end in
                    told.withLock { $0.append(end) }
                }
                tokens.withLock { $0 += [token, end] }
                if wasPosted { XCTAssertEqual(center.post(name: posted), DeliveryCounters(delivered: 1)) }
                Thread.posting(1) {
                    // The notification waits for this thread, which runs no run loop, and is released at its end.
                    let held = ReleaseRecorder {
                        let last = center.post(name: posted)
                        report.withLock { $0 = last }
                    }
                    XCTAssertEqual(center.post(name: posted, userInfo: ["held": held]), DeliveryCounters(waiting: 1))
                }.wait()
            }.get()
            XCTAssertTrue(thread.join(until: .after(timeout)))
            XCTAssertEqual(report.withLock { $0 }, DeliveryCounters(targetGone: 1), "posted before: \(wasPosted)")
            let counters = tokens.withLock { $0.removeFirst() }.counters
            XCTAssertEqual(counters, DeliveryCounters(delivered: wasPosted ? 1 : 0, targetGone: 2))
        }
        XCTAssertEqual(told.withLock { $0.map { $0.thread == nil } }, [false, false])
    }

    func testAHandlerSeesThatItsThreadIsStopping() throws {
        let worker = try RunLoopThread.started("worker")
        XCTAssertFalse(worker.isStopping)
        let (resume, seen) = (try worker.keptBusy(), Locked(false))
        try worker.perform {
            let isStopping = CurrentThread.current.isStopping
            seen.withLock { $0 = isStopping }
        }
        worker.stop()
        resume.signal()
        try worker.waitUntilFinished(timeout: timeout)
        XCTAssertTrue(seen.withLock { $0 } && worker.isStopping)
        XCTAssertFalse(MainThread.main.isStopping)
    }
}
