import Dispatch
import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class TaskWaitTests: XCTestCase {
    private static let name = Notification.Name("task")

    private let center = ThreadedNotificationCenter()
    private let timeout = TestTimeout.hang

    /// Runs `operation` on this thread until it suspends its task.
    /// - Returns: waits for its result.
    private func begin<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) -> (task: Task<Value, any Error>, result: () throws -> Value) {
        let isOver = expectation(description: "over")
        let result = Locked<Result<Value, any Error>?>(nil)
        let task = Task.immediate {
            defer { isOver.fulfill() }
            do {
                let value = try await operation()
                result.withLock { $0 = .success(value) }
                return value
            } catch {
                result.withLock { $0 = .failure(error) }
                throw error
            }
        }
        return (
            task,
            { [self] in
                wait(for: [isOver], timeout: TestTimeout.seconds)
                return try XCTUnwrap(result.withLock { $0 }).get()
            }
        )
    }

    private func run<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) throws -> Value {
        try begin(operation).result()
    }

    // MARK: The end of a thread

    func testTasksWaitForTheEndOfAThreadAndBlockNone() throws {
        let worker = try RunLoopThread.started("worker")
        let handled = Locked(0)
        let observer = center.addObserver(forName: Self.name, on: worker) { _ in handled.withLock { $0 += 1 } }
        // More than Dispatch has threads.
        let waits = (0..<200).map { _ in
            begin { [timeout] in
                try await worker.waitUntilFinished(timeout: timeout)
                return handled.withLock { $0 }
            }
        }
        center.post(name: Self.name)
        worker.stop()
        for wait in waits { XCTAssertEqual(try wait.result(), 1) }
        try run { try await worker.waitUntilFinished(timeout: .zero) }
        observer.cancel()
    }

    func testAWaitForTheEndReturnsAfterTheThreadsStorageWasDestroyed() throws {
        let worker = try RunLoopThread.started("worker")
        let told = expectation(description: "told")
        let token = worker.addEndObserver(on: .postingThread) { _ in told.fulfill() }
        let storage = SlowStorage()
        try worker.perform { storage.set() }
        let waiting = begin { [timeout] in try await worker.waitUntilFinished(timeout: timeout) }
        worker.stop()
        wait(for: [told], timeout: TestTimeout.seconds)
        assertThrows(DeliveryError.threadStillRunning(thread: "worker", after: .milliseconds(1))) {
            try run { try await worker.waitUntilFinished(timeout: .milliseconds(1)) }
        }
        XCTAssertFalse(storage.isDestroyed)
        storage.resume.signal()
        try waiting.result()
        XCTAssertTrue(storage.isDestroyed)
        token.cancel()
    }

    func testAWaitForAThreadThatIsNotStartedOrDoesNotEndThrows() throws {
        let worker = RunLoopThread(name: "worker")
        assertThrows(DeliveryError.threadNotStarted(thread: "worker")) {
            try run { [timeout] in try await worker.waitUntilFinished(timeout: timeout) }
        }
        try worker.start()
        for timeout in [Duration.zero, .seconds(-5), .milliseconds(1)] {
            assertThrows(DeliveryError.threadStillRunning(thread: "worker", after: timeout)) {
                try run { try await worker.waitUntilFinished(timeout: timeout) }
            }
        }
        worker.stop()
        try run { try await worker.waitUntilFinished(timeout: .seconds(Int64.max)) }
        let stopped = RunLoopThread(name: "stopped")
        stopped.stop()
        try run { try await stopped.waitUntilFinished(timeout: .zero) }
    }

    func testCancellingATaskEndsItsWaitForAThread() throws {
        let worker = try RunLoopThread.started("worker")
        let waiting = begin { try await worker.waitUntilFinished(timeout: .seconds(Int64.max)) }
        waiting.task.cancel()
        assertThrows(CancellationError.self) { try waiting.result() }
        assertThrows(CancellationError.self) {
            try run {
                withUnsafeCurrentTask { $0?.cancel() }
                try await worker.waitUntilFinished(timeout: .seconds(Int64.max))
            }
        }
        try worker.stopAndWait()
    }

    // MARK: The handlers of an observer

    func testATaskThatCancelsAnObserverWaitsForItsHandler() throws {
        let worker = try RunLoopThread.started("worker")
        let (hasBegun, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let returned = Locked(false)
        let token = center.addObserver(forName: Self.name, on: worker) { _ in
            hasBegun.signal()
            resume.wait()
            returned.withLock { $0 = true }
        }
        center.post(name: Self.name)
        hasBegun.wait()
        assertThrows(DeliveryError.handlerStillRunning(observer: token.id, after: .zero)) {
            try run { try await token.cancelAndWait(timeout: .zero) }
        }
        let cancelled = begin { [timeout] in try await token.cancelAndWait(timeout: timeout) }
        cancelled.task.cancel()
        assertThrows(CancellationError.self) { try cancelled.result() }
        let waiting = begin { [timeout] in
            try await token.cancelAndWait(timeout: timeout)
            return returned.withLock { $0 }
        }
        resume.signal()
        XCTAssertTrue(try waiting.result())
        try run { try await token.cancelAndWait(timeout: .zero) }
        try worker.stopAndWait()
    }
}

/// Thread-specific storage whose destructor waits until the test lets it continue.
private final class SlowStorage: Sendable {
    let resume = DispatchSemaphore(value: 0)
    private let destroyed = Locked(false)
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { value in
            guard let value else { return }
            let storage = Unmanaged<SlowStorage>.fromOpaque(value).takeRetainedValue()
            storage.resume.wait()
            storage.destroyed.withLock { $0 = true }
        }
        return key
    }()

    var isDestroyed: Bool { destroyed.withLock { $0 } }

    /// Gives the storage to the calling thread.
    func set() {
        // The key of this package comes first, so that its destructor is called first.
        _ = ThreadIdentity.current
        pthread_setspecific(Self.key, Unmanaged.passRetained(self).toOpaque())
    }
}
