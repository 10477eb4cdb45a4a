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

    func testItAsksForShortTimeSlicesAndAThreadThatItStartsDoesNot() throws {
        let kernel = ProcessInfo.processInfo.operatingSystemVersion
        try XCTSkipIf((kernel.majorVersion, kernel.minorVersion) < (6, 12), "the kernel ignores the request")
        try XCTSkipIf(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) < 0, "no request is made")
        let usual = try XCTUnwrap(Self.timeSlice, "the kernel does not show time slices")
        let thread = try RunLoopThread.started("sliced")
        let ofStarted = Locked<UInt64?>(nil)
        let hasRead = expectation(description: "read")
        let own = try thread.performAndWait(timeout: timeout) {
            Thread {
                ofStarted.withLock { $0 = Self.timeSlice }
                hasRead.fulfill()
            }.start()
            return Self.timeSlice
        }
        wait(for: [hasRead], timeout: TestTimeout.seconds)
        try thread.stopAndWait()
        XCTAssertEqual(own, 100_000)
        XCTAssertEqual(ofStarted.withLock { $0 }, usual)
    }

    /// The time slice of the calling thread, in nanoseconds.
    private static var timeSlice: UInt64? {
        let lines = try? String(contentsOfFile: "/proc/thread-self/sched", encoding: .utf8).split(separator: "\n")
        return lines?.first { $0.hasPrefix("se.slice") }?.split(separator: " ").last.flatMap { UInt64($0) }
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

    func testAThreadThatIsStoppedAtOnceHandlesAPortThatABlockAdded() throws {
        for _ in 0..<200 {
            let thread = RunLoopThread(name: "brief")
            let port = SignalPort()
            let receiver = CountingReceiver()
            port.setDelegate(receiver)
            port.signal()
            try thread.start()
            try thread.perform { RunLoop.current.add(port, forMode: .common) }
            thread.stop()
            try thread.waitUntilFinished(timeout: timeout)
            XCTAssertEqual(receiver.count, 1)
        }
    }

    func testPortsThatAlwaysSignalThemselvesDelayNeitherOthersNorTheStop() throws {
        let before = (0..<8).map { _ in SignalPort() }
        let thread = RunLoopThread(name: "busy")
        let endless = before + (0..<8).map { _ in SignalPort() }
        try thread.start()
        let receivers = endless.map { port in
            let receiver = CountingReceiver()
            receiver.whenCalled { port.signal() }
            port.setDelegate(receiver)
            return receiver
        }
        try thread.perform {
            for port in endless {
                RunLoop.current.add(port, forMode: .common)
                port.signal()
            }
        }
        for _ in 0..<20 {
            let performed = expectation(description: "performed")
            try thread.perform { performed.fulfill() }
            wait(for: [performed], timeout: TestTimeout.seconds)
        }
        thread.stop()
        try thread.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(receivers.count { $0.count > 0 }, endless.count)
    }

    func testABlockThatPerformsABlockDoesNotDelayPorts() throws {
        let thread = RunLoopThread(name: "busy")
        try thread.start()
        let isOver = Atomic<Bool>(false)
        @Sendable func again() {
            if !isOver.load(ordering: .relaxed) { try? thread.perform(again) }
        }
        try thread.perform(again)
        let port = SignalPort()
        let receiver = CountingReceiver()
        let handled = expectation(description: "handled")
        receiver.whenCalled { handled.fulfill() }
        port.setDelegate(receiver)
        try thread.perform { RunLoop.current.add(port, forMode: .common) }
        port.signal()
        wait(for: [handled], timeout: TestTimeout.seconds)
        isOver.store(true, ordering: .relaxed)
        thread.stop()
        try thread.waitUntilFinished(timeout: timeout)
    }

    func testBlocksArePerformedInOrderIfABlockRunsTheRunLoop() throws {
        let thread = RunLoopThread(name: "nested")
        let performed = Locked<[Int]>([])
        let ready = DispatchSemaphore(value: 0)
        try thread.start()
        try thread.perform {
            ready.wait()
            performed.withLock { $0.append(1) }
            RunLoop.runCurrentOnce()
        }
        try thread.perform {
            performed.withLock { $0.append(2) }
            try? thread.perform { performed.withLock { $0.append(4) } }
            RunLoop.runCurrentOnce()
        }
        try thread.perform { performed.withLock { $0.append(3) } }
        ready.signal()
        let last = expectation(description: "last")
        try thread.perform { try? thread.perform { last.fulfill() } }
        wait(for: [last], timeout: TestTimeout.seconds)
        thread.stop()
        try thread.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(performed.withLock { $0 }, [1, 2, 3, 4])
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

    func testStoppingASecondTimeHasNoEffect() throws {
        let thread = RunLoopThread(name: "twice")
        try thread.start()
        thread.stop()
        thread.stop()
        try thread.waitUntilFinished(timeout: timeout)
        thread.stop()
        try thread.waitUntilFinished(timeout: timeout)
    }

    func testAThreadMayStopItself() throws {
        let thread = RunLoopThread(name: "itself")
        try thread.start()
        try thread.perform { thread.stop() }
        try thread.waitUntilFinished(timeout: timeout)
    }

    func testWaitingForTheOwnThreadIsAnError() throws {
        let thread = RunLoopThread(name: "itself")
        try thread.start()
        let error = Locked<DeliveryError?>(nil)
        try thread.perform {
            do throws(DeliveryError) {
                try thread.waitUntilFinished(timeout: .seconds(1))
            } catch let thrown {
                error.withLock { $0 = thrown }
            }
        }
        thread.stop()
        try thread.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(error.withLock { $0 }, .waitForItself(thread: "itself"))
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

    func testWaitingForAThreadThatIsNotStartedOrDoesNotEndThrows() throws {
        let thread = RunLoopThread(name: "running")
        XCTAssertThrowsError(try thread.waitUntilFinished(timeout: timeout)) {
            XCTAssertEqual($0 as? DeliveryError, .threadNotStarted(thread: "running"))
        }
        try thread.start()
        for timeout in [Duration.zero, .seconds(-5), .milliseconds(1)] {
            XCTAssertThrowsError(try thread.waitUntilFinished(timeout: timeout)) {
                XCTAssertEqual($0 as? DeliveryError, .threadStillRunning(thread: "running", after: timeout))
            }
        }
        thread.stop()
        try thread.waitUntilFinished(timeout: .seconds(Int64.max))
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

    func testErrorsNameTheThreadAndARemedy() {
        let errors: [DeliveryError] = [
            .threadAlreadyStarted(thread: "worker"), .threadNotCreated(thread: "worker", code: 11),
            .threadNotStarted(thread: "worker"), .threadStopped(thread: "worker"), .waitForItself(thread: "worker"),
            .threadStillRunning(thread: "worker", after: .seconds(2)),
        ]
        for error in errors {
            XCTAssertTrue(error.description.contains("\"worker\""), error.description)
            XCTAssertGreaterThan(error.description.split(separator: ". ").count, 1, "no remedy: \(error)")
        }
    }
}
