import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

final class RunLoopThreadExecutorTests: XCTestCase {
    private let timeout = TestTimeout.hang

    fileprivate actor Counter {
        private let thread: RunLoopThread
        private(set) var count = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        init(_ thread: RunLoopThread) {
            self.thread = thread
        }

        func add() -> Bool {
            count += 1
            return thread.isCurrent
        }

        func perform(_ body: @Sendable () -> Void) {
            body()
        }

        func addAfter(_ other: AsyncStream<Int>) async -> Int {
            for await value in other { count += value }
            return count
        }
    }

    func testAnActorsMethodsRunOnItsThread() throws {
        let worker = try RunLoopThread.started("worker")
        let counter = Counter(worker)
        let done = expectation(description: "done")
        Task {
            for _ in 0..<1000 {
                let isOnThread = await counter.add()
                XCTAssertTrue(isOnThread)
            }
            let count = await counter.count
            XCTAssertEqual(count, 1000)
            done.fulfill()
        }
        wait(for: [done], timeout: TestTimeout.seconds)
        try worker.stopAndWait()
    }

    func testATaskThatPrefersTheThreadRunsOnIt() throws {
        let worker = try RunLoopThread.started("worker")
        let done = expectation(description: "done")
        Task(executorPreference: worker) {
            XCTAssertTrue(worker.isCurrent)
            await Task.yield()
            XCTAssertTrue(worker.isCurrent)
            done.fulfill()
        }
        wait(for: [done], timeout: TestTimeout.seconds)
        try worker.stopAndWait()
    }

    func testAnActorIsIsolatedOnItsThreadOnly() throws {
        let worker = try RunLoopThread.started("worker")
        let other = try RunLoopThread.started("other")
        let counter = Counter(worker)
        let count = try worker.performAndWait(timeout: timeout) {
            counter.assumeIsolated { counter in
                _ = counter.add()
                return counter.count
            }
        }
        XCTAssertEqual(count, 1)
        XCTAssertEqual(worker.isIsolatingCurrentContext(), false)
        XCTAssertEqual(try worker.performAndWait(timeout: timeout) { worker.isIsolatingCurrentContext() }, true)
        XCTAssertEqual(try other.performAndWait(timeout: timeout) { worker.isIsolatingCurrentContext() }, false)
        try worker.stopAndWait()
        try other.stopAndWait()
    }

    func testJobsAndBlocksRunInTheOrderInWhichTheyWereEnqueued() throws {
        let worker = try RunLoopThread.started("worker")
        let counter = Counter(worker)
        let resume = try worker.keptBusy()
        let log = Locked<[Int]>([])
        // Runs on this thread until it enqueues its job on the actor's thread.
        Task.immediate { await counter.perform { log.withLock { $0.append(1) } } }
        try worker.perform { log.withLock { $0.append(2) } }
        Task.immediate { await counter.perform { log.withLock { $0.append(3) } } }
        resume.signal()
        try worker.stopAndWait()
        XCTAssertEqual(log.withLock { $0 }, [1, 2, 3])
    }

    func testStoppingWhileTasksAreSuspendedResumesThem() throws {
        for _ in 0..<100 {
            let worker = try RunLoopThread.started("worker")
            let counter = Counter(worker)
            let (values, feed) = AsyncStream.makeStream(of: Int.self)
            let all = expectation(description: "all returned")
            all.expectedFulfillmentCount = 9
            for _ in 0..<8 {
                Task {
                    for _ in 0..<10 { _ = await counter.add() }
                    all.fulfill()
                }
            }
            Task {
                _ = await counter.addAfter(values)
                all.fulfill()
            }
            worker.stop()
            try worker.waitUntilFinished(timeout: timeout)
            feed.yield(1)
            feed.finish()
            wait(for: [all], timeout: TestTimeout.seconds)
        }
    }

    private actor Worker {
        private let thread: RunLoopThread
        private var isBusy = false
        private(set) var interleaved = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        init(_ thread: RunLoopThread) {
            self.thread = thread
        }

        /// It never suspends, so no other job of the actor may run before it returns.
        func work(_ body: @Sendable () -> Void) {
            if isBusy { interleaved += 1 }
            isBusy = true
            body()
            isBusy = false
        }
    }

    func testAnActorsJobsDoNotInterleaveWhenOneWaitsOrRunsTheRunLoop() throws {
        let worker = try RunLoopThread.started("worker")
        let actor = Worker(worker)
        let (timeout, done) = (timeout, expectation(description: "all done"))
        done.expectedFulfillmentCount = 6
        let (hasBegun, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Task.immediate {
            await actor.work {
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
                await actor.work { RunLoop.runCurrentOnce() }
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
