import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

final class RunLoopThreadTests: XCTestCase {
    private let timeout = TestTimeout.hang

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

    func testAThreadIsStartedOnceAndNotAfterItWasStopped() throws {
        let never = RunLoopThread(name: "never")
        never.stop()
        try never.waitUntilFinished(timeout: .zero)
        assertThrows(DeliveryError.threadStopped(thread: "never")) { try never.start() }
        let once = try RunLoopThread.started("once")
        assertThrows(DeliveryError.threadAlreadyStarted(thread: "once")) { try once.start() }
        try once.perform { once.stop() }
        try once.waitUntilFinished(timeout: timeout)
        assertThrows(DeliveryError.threadAlreadyStarted(thread: "once")) { try once.start() }
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
