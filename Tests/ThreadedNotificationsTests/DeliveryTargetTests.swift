import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("perform")

/// Blocks on a given thread.
final class DeliveryTargetTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testWaitingReturnsTheBlocksValueAndRethrowsItsError() throws {
        struct Refusal: Error, Equatable {}
        let worker = try RunLoopThread.started("worker")
        for thread in [worker.targetThread, MainThread.main.targetThread, .postingThread] {
            XCTAssertEqual(try thread.performAndWait(timeout: timeout) { 42 }, 42)
            XCTAssertThrowsError(try thread.performAndWait(timeout: timeout) { throw Refusal() }) {
                XCTAssertEqual($0 as? Refusal, Refusal())
            }
        }
        try worker.stopAndWait()
    }

    func testABlockThatHasNotBegunWithinTheTimeoutIsNotPerformed() throws {
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let performed = Atomic<Bool>.Box(false)
        let error = DeliveryError.notDeliveredInTime(
            pending: [.init(notification: nil, observer: nil, thread: "\(worker.identity!)")], after: .milliseconds(-1))
        XCTAssertThrowsError(
            try worker.performAndWait(timeout: .milliseconds(-1)) { performed.value.store(true, ordering: .relaxed) }
        ) { XCTAssertEqual($0 as? DeliveryError, error) }
        resume.signal()
        try worker.stopAndWait()
        XCTAssertFalse(performed.value.load(ordering: .relaxed))
    }

    func testADelayedBlockIsNotEarlyAndDoesNotNeedTheCallersRunLoop() throws {
        let worker = try RunLoopThread.started("worker")
        let performed = expectation(description: "performed")
        let (delay, block) = (Duration.milliseconds(1), Locked<DelayedBlock?>(nil))
        // The calling thread ends without running a run loop.
        Thread.posting(1) {
            let start = SuspendingClock.now
            let delayed = try? worker.perform(after: delay) {
                XCTAssertGreaterThanOrEqual(SuspendingClock.now - start, delay)
                XCTAssertTrue(worker.isCurrent)
                performed.fulfill()
            }
            block.withLock { $0 = delayed }
        }.wait()
        wait(for: [performed], timeout: TestTimeout.seconds)
        try worker.stopAndWait()
        XCTAssertEqual(block.withLock { $0 }?.outcome, .delivered)
        XCTAssertEqual(block.withLock { $0 }?.cancel(), false)
    }

    func testBlocksWhoseDelaysPassTogetherArePerformedInTheOrderOfTheCalls() throws {
        let worker = try RunLoopThread.started("worker")
        for delay in [Duration.zero, .microseconds(200), .milliseconds(5)] {
            let performed = Locked<[Int]>([])
            let isOver = expectation(description: "the last one is performed")
            for number in 1...200 {
                try worker.perform(after: delay) {
                    performed.withLock { $0.append(number) }
                    if number == 200 { isOver.fulfill() }
                }
            }
            wait(for: [isOver], timeout: TestTimeout.seconds)
            XCTAssertEqual(performed.withLock { $0 }, Array(1...200))
        }
        try worker.stopAndWait()
    }

    func testCancellingADelayedBlockReleasesItsClosure() throws {
        let worker = try RunLoopThread.started("worker")
        let released = Atomic<Bool>.Box(false)
        let block: DelayedBlock
        do {
            let held = ReleaseRecorder { released.value.store(true, ordering: .relaxed) }
            block = try worker.perform(after: .seconds(3600)) { withExtendedLifetime(held) {} }
        }
        XCTAssertEqual(block.outcome, .waiting)
        XCTAssertTrue(block.cancel())
        XCTAssertTrue(block.cancel(), "cancelling again has no effect")
        XCTAssertTrue(released.value.load(ordering: .relaxed))
        XCTAssertEqual(block.outcome, .cancelled)
        try worker.stopAndWait()
    }

    func testADelayedBlockOfAThreadThatEndsIsTargetGoneAndReleasedThen() throws {
        @Sendable func exit() { Thread.exit() }
        for (delay, isStopped) in [(Duration.zero, false), (.seconds(3600), false), (.seconds(3600), true)] {
            let worker = try RunLoopThread.started("worker")
            let resume = try worker.keptBusy()
            if !isStopped { try worker.perform(exit) }
            let released = Atomic<Bool>.Box(false)
            let block: DelayedBlock
            do {
                let held = ReleaseRecorder { released.value.store(true, ordering: .relaxed) }
                block = try worker.perform(after: delay) { withExtendedLifetime(held) {} }
            }
            if isStopped { worker.stop() }
            resume.signal()
            try worker.waitUntilFinished(timeout: timeout)
            XCTAssertEqual(block.outcome, .targetGone)
            XCTAssertFalse(block.cancel())
            XCTAssertTrue(released.value.load(ordering: .relaxed))
        }
    }

    func testPerformThrowsForAThreadThatHasEndedOrWasNeverStartedAndTracesWhich() throws {
        let ended = try RunLoopThread.started("ended")
        try ended.stopAndWait()
        let unstarted = RunLoopThread(name: "unstarted")
        let cases: [(RunLoopThread, DeliveryError, DeliveryEvent.Reason?)] = [
            (ended, .threadStopped(thread: "ended"), nil),
            (unstarted, .threadNotStarted(thread: "unstarted"), .notStarted),
        ]
        for (thread, error, reason) in cases {
            func assertThrows(_ body: () throws -> Void) {
                XCTAssertThrowsError(try body()) { XCTAssertEqual($0 as? DeliveryError, error) }
            }
            let events = try tracing { assertThrows { try thread.perform {} } }
            XCTAssertEqual(events.filter { $0.stage == .targetGone }.map(\.reason), [reason])
            assertThrows { try thread.perform(after: .zero) {} }
            assertThrows { try thread.performAndWait(timeout: timeout) {} }
        }
        XCTAssertNil(unstarted.identity)
    }
}
