import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class RunLoopThreadTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testStoppingPerformsAcceptedBlocksAndHandlesSignalledPorts() throws {
        let thread = try RunLoopThread.started("draining")
        let (ports, receiver) = ((0..<3).map { _ in SignalPort() }, CountingReceiver())
        for port in ports { port.setDelegate(receiver) }
        try thread.performAndWait(timeout: timeout) {
            for port in ports { RunLoop.current.add(port, forMode: .common) }
        }
        let (resume, performed) = (try thread.keptBusy(), Locked(false))
        for port in ports { port.signal() }
        try thread.perform { performed.withLock { $0 = true } }
        thread.stop()
        resume.signal()
        try thread.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(receiver.count, 3)
        XCTAssertTrue(performed.withLock { $0 })
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
