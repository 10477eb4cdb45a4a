import Dispatch
import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("async")

/// Observers with async handlers.
final class AsyncHandlerTests: XCTestCase {
    private let timeout = TestTimeout.hang
    private static let number: @Sendable (Notification) -> Int? = { $0.object as? Int }

    func testCallsBeginInTheOrderPostedEachAfterTheOneBeforeHasReturned() throws {
        let center = ThreadedNotificationCenter()
        let log = Locked<[String]>([])
        let token = center.addObserver(forName: posted, transform: Self.number) { number in
            log.withLock { $0.append("begin \(number)") }
            await Task.yield()
            log.withLock { $0.append("end \(number)") }
        }
        for number in 1...100 { center.post(name: posted, object: number) }
        try center.postAndWait(Notification(name: posted, object: 101), timeout: timeout)
        XCTAssertEqual(log.withLock { $0 }, (1...101).flatMap { ["begin \($0)", "end \($0)"] })
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 101))
    }

    func testAHandlerRunsInATaskOnTheExecutorItPrefersOrOnTheActorToWhichItIsIsolated() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let isInTask = Locked<Bool?>(nil)
        let model = MainActor.assumeIsolated { Model() }
        let tokens = [
            center.addObserver(forName: posted, executorPreference: worker, transform: Self.number) { _ in
                await Task.yield()
                XCTAssertTrue(worker.isCurrent)
                isInTask.withLock { $0 = withUnsafeCurrentTask { $0 != nil } }
            },
            center.addObserver(forName: posted, transform: Self.number) { @MainActor number in model.sum += number },
        ]
        let isHandled = expectation(description: "handled")
        Thread.detachNewThread {
            do { try center.postAndWait(Notification(name: posted, object: 7), timeout: TestTimeout.hang) } catch {
                XCTFail("\(error)")
            }
            isHandled.fulfill()
        }
        wait(for: [isHandled], timeout: TestTimeout.seconds)
        XCTAssertEqual(isInTask.withLock { $0 }, true)
        XCTAssertEqual(MainActor.assumeIsolated { model.sum }, 7)
        for token in tokens { token.cancel() }
        try worker.stopAndWait()
    }

    func testTheOverflowPolicyHandlesWhatIsPostedWhileACallRuns() async throws {
        let center = ThreadedNotificationCenter()
        let (begun, resume) = (AsyncGate(), AsyncGate())
        let (log, isOver) = (Locked<[Int]>([]), AsyncGate())
        let token = center.addObserver(
            forName: posted, options: ObserverOptions(overflow: .dropOldest(capacity: 2)), transform: Self.number,
            using: { number in
                log.withLock { $0.append(number) }
                if number == 5 { isOver.open() }
                if number == 1 {
                    begun.open()
                    await resume.wait()
                }
            })
        center.post(name: posted, object: 1)
        await begun.wait()
        for number in 2...5 { center.post(name: posted, object: number) }
        XCTAssertEqual(token.counters, DeliveryCounters(waiting: 3, dropped: 2), "the call that runs counts as waiting")
        resume.open()
        await isOver.wait()
        try await token.cancelAndWait(timeout: timeout)
        XCTAssertEqual(log.withLock { $0 }, [1, 4, 5])
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 3, dropped: 2))
    }

    func testAfterItsRemovalACallThatRunsContinuesAndTheRestIsCancelled() async throws {
        let center = ThreadedNotificationCenter()
        let (begun, resume) = (AsyncGate(), AsyncGate())
        let (isReleased, log) = (AsyncGate(), Locked<[Int]>([]))
        let (isSettled, cancelled) = (AsyncGate(), Locked(0))
        DeliveryEvent.tracer = { event in
            guard event.stage == .cancel else { return }
            let isLast = cancelled.withLock { count in
                count += 1
                return count == 2
            }
            if isLast { isSettled.open() }
        }
        defer { DeliveryEvent.tracer = nil }
        func observe() -> ObserverToken {
            let recorder = ReleaseRecorder { isReleased.open() }
            return center.addObserver(forName: posted, transform: Self.number) { number in
                begun.open()
                await resume.wait()
                log.withLock { $0.append(number) }
                withExtendedLifetime(recorder) {}
            }
        }
        let token = observe()
        for number in 1...3 { center.post(name: posted, object: number) }
        await begun.wait()
        do {
            try await token.cancelAndWait(timeout: .zero)
            XCTFail("the call still runs")
        } catch {
            XCTAssertEqual((error as? DeliveryError)?.code, .handlerStillRunning)
        }
        XCTAssertEqual(center.observers.count, 0)
        resume.open()
        try await token.cancelAndWait(timeout: timeout)
        await isReleased.wait()
        await isSettled.wait()
        XCTAssertEqual(log.withLock { $0 }, [1])
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 1, cancelled: 2))
    }

    func testAPostThatWaitsDoesSoUntilTheHandlerHasReturned() throws {
        let center = ThreadedNotificationCenter()
        let resume = AsyncGate()
        let token = center.addObserver(forName: posted, transform: Self.number) { _ in await resume.wait() }
        XCTAssertThrowsError(try center.postAndWait(Notification(name: posted, object: 1), timeout: .zero)) {
            XCTAssertEqual(
                ($0 as? DeliveryError)?.pending, [.init(notification: "async", observer: token.id, thread: "a task")])
        }
        resume.open()
        try center.postAndWait(Notification(name: posted, object: 2), timeout: timeout)
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 2))
    }

    func testAPostOnTheExecutorsThreadDoesNotWaitForATaskThatWouldRunThere() throws {
        let center = ThreadedNotificationCenter()
        let worker = RunLoopThread(name: "worker")
        let token = center.addObserver(forName: posted, executorPreference: worker, transform: Self.number) { _ in }
        assertThrows(DeliveryError.threadNotStarted(thread: "worker")) {
            try center.postAndWait(Notification(name: posted, object: 1), timeout: timeout)
        }
        try worker.start()
        XCTAssertThrowsError(
            try worker.performAndWait(timeout: timeout) {
                try center.postAndWait(Notification(name: posted, object: 2), timeout: TestTimeout.hang)
            }
        ) { XCTAssertEqual(($0 as? DeliveryError)?.code, .waitWouldDeadlock) }
        try center.postAndWait(Notification(name: posted, object: 3), timeout: timeout)
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 1))
        try worker.stopAndWait()
    }

    func testAPostThatWaitsInTheHandlerOfItsOwnObserverFailsAtOnce() throws {
        let worker = try RunLoopThread.started("worker")
        for executor in [nil, worker] {
            let center = ThreadedNotificationCenter()
            let codes = Locked<[DeliveryError.Code?]>([])
            let isHandled = expectation(description: "handled")
            @Sendable func postAndWait(_ number: Int) {
                do throws(DeliveryError) {
                    try center.postAndWait(Notification(name: posted, object: number), timeout: TestTimeout.hang)
                    codes.withLock { $0.append(nil) }
                } catch {
                    codes.withLock { $0.append(error.code) }
                }
            }
            let token = center.addObserver(
                forName: posted, executorPreference: executor, transform: Self.number,
                using: { number in
                    postAndWait(number + 1)
                    await MainActor.run { postAndWait(number + 2) }
                    isHandled.fulfill()
                })
            center.post(name: posted, object: 1)
            wait(for: [isHandled], timeout: TestTimeout.seconds)
            XCTAssertEqual(codes.withLock { $0 }, [.waitWouldDeadlock, .waitWouldDeadlock])
            XCTAssertEqual(token.counters.total, 1, "nothing was posted")
        }
        try worker.stopAndWait()
    }

    func testWhatWaitsForAThreadThatEndsIsDeliveredOnAnotherThread() throws {
        for isStarted in [false, true] {
            let center = ThreadedNotificationCenter()
            let worker = RunLoopThread(name: "worker")
            let handled = expectation(description: "handled")
            handled.expectedFulfillmentCount = 2
            let token = center.addObserver(
                forName: posted, executorPreference: worker, transform: Self.number
            ) { _ in
                await Task.yield()
                XCTAssertFalse(worker.isCurrent)
                handled.fulfill()
            }
            if isStarted {
                try worker.start()
                try worker.stopAndWait()
            }
            center.post(name: posted, object: 1)
            worker.stop()
            center.post(name: posted, object: 2)
            wait(for: [handled], timeout: TestTimeout.seconds)
            token.cancel()
        }
    }
}

@MainActor
private final class Model {
    var sum = 0
}

/// Tasks wait for it until it is opened.
private final class AsyncGate: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func open() { continuation.finish() }

    func wait() async { for await _ in stream {} }
}
