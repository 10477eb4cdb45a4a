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

    func testTasksWaitForTheEndOfAThreadAndBlockNone() throws {
        let worker = try RunLoopThread.started("worker")
        let handled = Locked(0)
        let observer = center.addObserver(forName: Self.name, on: worker) { _ in handled.withLock { $0 += 1 } }
        // More than Dispatch has threads.
        let waits = (0..<100).map { _ in
            begin { [timeout] in
                try await worker.waitUntilFinished(timeout: timeout)
                return handled.withLock { $0 }
            }
        }
        center.post(name: Self.name)
        worker.stop()
        for wait in waits { XCTAssertEqual(try wait.result(), 1) }
        observer.cancel()
    }

    func testAWaitForAThreadThatIsNotStartedOrDoesNotEndThrowsAndACancelledTaskEndsItsWait() throws {
        let worker = RunLoopThread(name: "worker")
        let longest = Duration.seconds(Int64.max)
        assertThrows(DeliveryError.threadNotStarted(thread: "worker")) {
            try run { [timeout] in try await worker.waitUntilFinished(timeout: timeout) }
        }
        try worker.start()
        for timeout in [Duration.zero, .seconds(-5), .milliseconds(1)] {
            assertThrows(DeliveryError.threadStillRunning(thread: "worker", after: timeout)) {
                try run { try await worker.waitUntilFinished(timeout: timeout) }
            }
        }
        let waiting = begin { try await worker.waitUntilFinished(timeout: longest) }
        waiting.task.cancel()
        assertThrows(CancellationError.self) { try waiting.result() }
        assertThrows(CancellationError.self) {
            try run {
                withUnsafeCurrentTask { $0?.cancel() }
                try await worker.waitUntilFinished(timeout: longest)
            }
        }
        worker.stop()
        try run { try await worker.waitUntilFinished(timeout: longest) }
    }

    func testACancelledTaskEndsItsWaitForAHandler() throws {
        let worker = try RunLoopThread.started("worker")
        let (hasBegun, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let token = center.addObserver(forName: Self.name, on: worker) { _ in
            hasBegun.signal()
            resume.wait()
        }
        center.post(name: Self.name)
        hasBegun.wait()
        assertThrows(DeliveryError.handlerStillRunning(observer: token.id, after: .zero)) {
            try run { try await token.cancelAndWait(timeout: .zero) }
        }
        let cancelled = begin { [timeout] in try await token.cancelAndWait(timeout: timeout) }
        cancelled.task.cancel()
        assertThrows(CancellationError.self) { try cancelled.result() }
        resume.signal()
        try worker.stopAndWait()
    }
}
