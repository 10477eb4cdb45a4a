import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// Actors and tasks whose executor is a `RunLoopThread`.
final class RunLoopThreadExecutorTests: XCTestCase {
    private let timeout = TestTimeout.hang

    private actor Worker {
        private let thread: RunLoopThread
        private(set) var count = 0
        private var isBusy = false
        private(set) var interleaved = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        init(_ thread: RunLoopThread) {
            self.thread = thread
        }

        func add() -> Bool {
            count += 1
            return thread.isCurrent
        }

        /// It never suspends, so no other job of the actor may run before it returns.
        func perform(_ body: @Sendable () -> Void) {
            if isBusy { interleaved += 1 }
            isBusy = true
            body()
            isBusy = false
        }

        func addAfter(_ other: AsyncStream<Int>) async -> Int {
            for await value in other { count += value }
            return count
        }
    }

    func testAnActorsMethodsAndATaskThatPrefersTheThreadRunOnItAndOnNoOther() throws {
        let (worker, other) = (try RunLoopThread.started("worker"), try RunLoopThread.started("other"))
        let actor = Worker(worker)
        let done = expectation(description: "done")
        Task(executorPreference: worker) {
            for _ in 0..<1000 {
                let isOnThread = await actor.add()
                XCTAssertTrue(isOnThread)
            }
            await Task.yield()
            XCTAssertTrue(worker.isCurrent)
            done.fulfill()
        }
        wait(for: [done], timeout: TestTimeout.seconds)
        XCTAssertEqual(try worker.performAndWait(timeout: timeout) { actor.assumeIsolated { $0.count } }, 1000)
        XCTAssertEqual(worker.isIsolatingCurrentContext(), false)
        XCTAssertEqual(try worker.performAndWait(timeout: timeout) { worker.isIsolatingCurrentContext() }, true)
        XCTAssertEqual(try other.performAndWait(timeout: timeout) { worker.isIsolatingCurrentContext() }, false)
        try worker.stopAndWait()
        try other.stopAndWait()
    }

    func testJobsAndBlocksRunInTheOrderInWhichTheyWereEnqueued() throws {
        let worker = try RunLoopThread.started("worker")
        let actor = Worker(worker)
        let resume = try worker.keptBusy()
        let log = Locked<[Int]>([])
        // Runs on this thread until it enqueues its job on the actor's thread.
        Task.immediate { await actor.perform { log.withLock { $0.append(1) } } }
        try worker.perform { log.withLock { $0.append(2) } }
        Task.immediate { await actor.perform { log.withLock { $0.append(3) } } }
        resume.signal()
        try worker.stopAndWait()
        XCTAssertEqual(log.withLock { $0 }, [1, 2, 3])
    }

    func testStoppingWhileTasksAreSuspendedResumesThem() throws {
        for _ in 0..<TestRounds.rounds(20, stress: 200) {
            let worker = try RunLoopThread.started("worker")
            let actor = Worker(worker)
            let (values, feed) = AsyncStream.makeStream(of: Int.self)
            let all = expectation(description: "all returned")
            all.expectedFulfillmentCount = 9
            for _ in 0..<8 {
                Task {
                    for _ in 0..<10 { _ = await actor.add() }
                    all.fulfill()
                }
            }
            Task {
                _ = await actor.addAfter(values)
                all.fulfill()
            }
            try worker.stopAndWait()
            feed.yield(1)
            feed.finish()
            wait(for: [all], timeout: TestTimeout.seconds)
        }
    }

    func testAnActorsJobsDoNotInterleaveWhenOneWaitsOrRunsTheRunLoop() throws {
        let worker = try RunLoopThread.started("worker")
        let actor = Worker(worker)
        let (timeout, done) = (timeout, expectation(description: "all done"))
        done.expectedFulfillmentCount = 6
        let (hasBegun, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Task.immediate {
            await actor.perform {
                hasBegun.signal()
                resume.wait()
                try? worker.performAndWait(timeout: timeout) {}
                RunLoop.runCurrentOnce()
            }
            done.fulfill()
        }
        hasBegun.wait()
        for _ in 0..<4 {
            Task.immediate {
                await actor.perform { RunLoop.runCurrentOnce() }
                done.fulfill()
            }
        }
        resume.signal()
        Task {
            let interleaved = await actor.interleaved
            XCTAssertEqual(interleaved, 0)
            done.fulfill()
        }
        wait(for: [done], timeout: TestTimeout.seconds)
        try worker.stopAndWait()
    }
}
