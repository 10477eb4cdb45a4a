import Foundation
import PostingQueues
import SharedTesting
import ThreadedNotifications
import XCTest

final class DeliveryTargetEndTests: XCTestCase {
    private static let name = Notification.Name("end")

    private let center = ThreadedNotificationCenter()
    private let told = Locked<[ThreadEnd]>([])
    private let log = Locked<[String]>([])

    private func addEndObserver(of thread: RunLoopThread, on target: some DeliveryTarget) -> ObserverToken {
        thread.addEndObserver(on: target) { [told] end in told.withLock { $0.append(end) } }
    }

    // MARK: Observing the end

    func testTheEndOfAThreadIsToldOnceWithItsIdentity() throws {
        let worker = try RunLoopThread.started("worker")
        let identity = try XCTUnwrap(worker.identity)
        let token = addEndObserver(of: worker, on: .postingThread)
        try worker.stopAndWait()
        worker.stop()
        XCTAssertEqual(told.withLock { $0 }, [ThreadEnd(thread: identity, name: "worker")])
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 1))
    }

    func testTheEndIsEnqueuedForItsObserversBeforeAWaitForTheThreadReturns() throws {
        let (worker, observing) = (try RunLoopThread.started("worker"), try RunLoopThread.started("observing"))
        let resume = try observing.keptBusy()
        let token = addEndObserver(of: worker, on: observing)
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, DeliveryCounters(waiting: 1))
        resume.signal()
        try observing.stopAndWait()
        XCTAssertEqual(told.withLock { $0 }.map(\.name), ["worker"])
    }

    func testTheEndCountsWhatWaited() throws {
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let token = addEndObserver(of: worker, on: .postingThread)
        let observers = (1...2).map { _ in center.addObserver(forName: Self.name, on: worker) { _ in } }
        try worker.perform { Thread.exit() }
        for _ in 1...3 { center.post(name: Self.name) }
        let queue = PostingQueue(center: center, on: worker)
        queue.enqueue(Notification(name: Self.name), postingStyle: .whenIdle, coalesceMask: [], forModes: [.default])
        try worker.perform {}
        try worker.perform {}
        resume.signal()
        try worker.waitUntilFinished(timeout: TestTimeout.hang)
        let end = try XCTUnwrap(told.withLock { $0.first })
        XCTAssertEqual(end.lostNotifications, 6)
        XCTAssertEqual(end.lostBlocks, 2)
        XCTAssertEqual(end.lostQueuedNotifications, 1)
        XCTAssertEqual("\(end)", "worker ended: 6 notifications lost, 2 blocks lost, 1 queued notification lost")
        XCTAssertEqual(observers.map(\.counters.targetGone), [3, 3])
        XCTAssertEqual(token.counters.delivered, 1)
    }

    func testTheEndIsToldAfterTheThreadHasReleasedItsHandlersAndItself() throws {
        let released = Locked(0)
        weak var thread: RunLoopThread?
        let isOver = expectation(description: "over")
        var tokens: [ObserverToken] = []
        let resume: DispatchSemaphore
        do {
            let worker = try RunLoopThread.started("worker")
            thread = worker
            let center = center
            let bound = try worker.performAndWait(timeout: TestTimeout.hang) {
                let recorder = ReleaseRecorder { released.withLock { $0 += 1 } }
                return center.addObserver(forName: Self.name, on: .current) { _ in _ = recorder }
            }
            bound.cancel()
            let reference = WeakReference(worker)
            tokens.append(
                worker.addEndObserver(on: .postingThread) { [log] _ in
                    log.withLock {
                        $0.append("released \(released.withLock { $0 }), thread \(reference.object == nil)")
                    }
                    isOver.fulfill()
                })
            // The thread ends when this scope has released it.
            resume = try worker.keptBusy()
            worker.stop()
        }
        resume.signal()
        wait(for: [isOver], timeout: TestTimeout.seconds)
        XCTAssertEqual(log.withLock { $0 }, ["released 1, thread true"])
        XCTAssertNil(thread)
    }

    func testAThreadThatNeverStartedEndsWhenItIsStoppedOrReleased() {
        let stopped = RunLoopThread(name: "stopped")
        var released: RunLoopThread? = RunLoopThread(name: "released")
        let tokens = [stopped, released].compactMap { $0.map { addEndObserver(of: $0, on: .postingThread) } }
        let lost = center.addObserver(forName: Self.name, on: stopped) { _ in }
        center.post(name: Self.name)
        stopped.stop()
        stopped.stop()
        released = nil
        XCTAssertNil(released)
        XCTAssertEqual(
            told.withLock { $0 },
            [ThreadEnd(thread: nil, name: "stopped", lostNotifications: 1), ThreadEnd(thread: nil, name: "released")])
        XCTAssertEqual(told.withLock { $0 }.map(\.description).last, "released never started")
        XCTAssertEqual(tokens.map(\.counters.delivered), [1, 1])
        lost.cancel()
    }

    func testTheEndOfAThreadOfTheProgramsOwnIsTold() throws {
        let ended = expectation(description: "ended")
        let token = Locked<ObserverToken?>(nil)
        let thread = Thread { [told] in
            let new = CurrentThread.current.addEndObserver(on: .postingThread) { end in
                told.withLock { $0.append(end) }
                ended.fulfill()
            }
            token.withLock { $0 = new }
        }
        thread.start()
        wait(for: [ended], timeout: TestTimeout.seconds)
        XCTAssertNotNil(told.withLock { $0 }.first?.thread)
    }

    func testALateObserverIsToldAtOnceARemovedOneIsNotAndOneOnTheThreadItselfIsTargetGone() throws {
        let worker = try RunLoopThread.started("worker")
        let removed = addEndObserver(of: worker, on: .postingThread)
        let own = addEndObserver(of: worker, on: worker)
        removed.cancel()
        try worker.stopAndWait()
        XCTAssertEqual(told.withLock { $0 }, [])
        XCTAssertEqual(removed.counters, DeliveryCounters())
        XCTAssertEqual(own.counters, DeliveryCounters(targetGone: 1))
        let late = addEndObserver(of: worker, on: .postingThread)
        XCTAssertEqual(told.withLock { $0 }.map(\.name), ["worker"])
        XCTAssertEqual(late.counters, DeliveryCounters(delivered: 1))
    }

    // MARK: Asking

    func testAHandlerSeesThatItsThreadIsStopping() throws {
        let worker = RunLoopThread(name: "worker")
        XCTAssertFalse(worker.isStopping)
        try worker.start()
        XCTAssertFalse(worker.isStopping)
        let resume = try worker.keptBusy()
        try worker.perform { [log] in log.withLock { $0.append("\(CurrentThread.current.isStopping)") } }
        worker.stop()
        XCTAssertTrue(worker.isStopping)
        resume.signal()
        try worker.waitUntilFinished(timeout: TestTimeout.hang)
        XCTAssertEqual(log.withLock { $0 }, ["true"])
        XCTAssertTrue(worker.isStopping)
        XCTAssertFalse(MainThread.main.isStopping)
        XCTAssertFalse(TargetThread.postingThread.isStopping)
    }
}
