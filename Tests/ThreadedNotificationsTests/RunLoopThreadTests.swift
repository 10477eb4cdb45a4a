import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

final class RunLoopThreadTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testBlocksArePerformedOnTheThreadInOrder() throws {
        let thread = RunLoopThread(name: "ordered")
        try thread.start()
        let performed = Locked<[Int]>([])
        let names = Locked<Set<String?>>([])
        for number in 0..<1000 {
            try thread.perform {
                performed.withLock { $0.append(number) }
                let name = ThreadIdentity.current.name
                names.withLock { _ = $0.insert(name) }
            }
        }
        thread.stop()
        try thread.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(performed.withLock { $0 }, Array(0..<1000))
        XCTAssertEqual(names.withLock { $0 }, ["ordered"])
    }

    func testStoppingPerformsAcceptedBlocksAndHandlesSignalledPorts() throws {
        let thread = RunLoopThread(name: "draining")
        try thread.start()
        let busy = DispatchSemaphore(value: 0)
        let resume = DispatchSemaphore(value: 0)
        let ports = (0..<3).map { _ in SignalPort() }
        let receivers = ports.map { _ in CountingReceiver() }
        for (port, receiver) in zip(ports, receivers) { port.setDelegate(receiver) }
        let performed = Atomic<Bool>(false)
        try thread.perform {
            for port in ports { RunLoop.current.add(port, forMode: .common) }
            busy.signal()
            resume.wait()
        }
        busy.wait()
        for port in ports { port.signal() }
        try thread.perform { performed.store(true, ordering: .relaxed) }
        thread.stop()
        resume.signal()
        try thread.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(receivers.map(\.count), [1, 1, 1])
        XCTAssertTrue(performed.load(ordering: .relaxed))
    }

    func testAStopComesAfterWhatWasPostedBefore() throws {
        let (center, name) = (ThreadedNotificationCenter(), Notification.Name("before"))
        for _ in 0..<TestRounds.rounds(200, stress: 10_000) {
            let worker = try RunLoopThread.started("worker")
            let token = center.addObserver(forName: name, on: worker) { _ in }
            center.post(name: name)
            try worker.stopAndWait()
            XCTAssertEqual(token.counters, DeliveryCounters(delivered: 1))
        }
    }

    func testARunLoopThatABlockRunsPerformsTheNextBlocks() throws {
        let thread = RunLoopThread(name: "nested")
        try thread.start()
        let ready = DispatchSemaphore(value: 0)
        let third = Atomic<Bool>(false)
        let nestedEnded = expectation(description: "nested")
        try thread.perform { ready.wait() }
        try thread.perform {
            let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
            while !third.load(ordering: .relaxed), deadline.timeIntervalSinceNow > 0,
                RunLoop.current.run(mode: .default, before: deadline)
            {}
            XCTAssertTrue(third.load(ordering: .relaxed), "the nested run was not signalled for the waiting blocks")
            nestedEnded.fulfill()
        }
        try thread.perform {}
        try thread.perform { third.store(true, ordering: .relaxed) }
        ready.signal()
        wait(for: [nestedEnded], timeout: TestTimeout.seconds)
        thread.stop()
        try thread.waitUntilFinished(timeout: timeout)
    }

    func testAThreadMayStopItself() throws {
        let thread = RunLoopThread(name: "itself")
        try thread.start()
        try thread.perform { thread.stop() }
        try thread.waitUntilFinished(timeout: timeout)
    }

    func testAThreadThatWasStoppedBeforeItsStartHasEnded() throws {
        let thread = RunLoopThread(name: "never")
        thread.stop()
        try thread.waitUntilFinished(timeout: .zero)
        XCTAssertThrowsError(try thread.start()) {
            XCTAssertEqual($0 as? DeliveryError, .threadStopped(thread: "never"))
        }
    }

    func testAThreadCanBeStartedOnce() throws {
        let thread = RunLoopThread(name: "once")
        try thread.start()
        XCTAssertThrowsError(try thread.start()) {
            XCTAssertEqual($0 as? DeliveryError, .threadAlreadyStarted(thread: "once"))
        }
        thread.stop()
        try thread.waitUntilFinished(timeout: timeout)
        XCTAssertThrowsError(try thread.start()) {
            XCTAssertEqual($0 as? DeliveryError, .threadAlreadyStarted(thread: "once"))
        }
    }

    func testSeveralThreadsMayWaitForTheEnd() throws {
        let thread = RunLoopThread(name: "awaited")
        try thread.start()
        let waited = expectation(description: "waited")
        waited.expectedFulfillmentCount = 4
        for _ in 0..<4 {
            Thread { [timeout] in
                try? thread.waitUntilFinished(timeout: timeout)
                waited.fulfill()
            }.start()
        }
        thread.stop()
        wait(for: [waited], timeout: TestTimeout.seconds)
    }

    func testDroppingTheLastReferenceDoesNotEndTheThread() throws {
        var thread: RunLoopThread? = RunLoopThread(name: "kept")
        weak let observed = thread
        try thread?.start()
        thread = nil
        let performed = expectation(description: "performed")
        try XCTUnwrap(observed).perform { performed.fulfill() }
        wait(for: [performed], timeout: TestTimeout.seconds)
        observed?.stop()
        try observed?.waitUntilFinished(timeout: timeout)
    }
}
