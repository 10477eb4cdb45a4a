import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class SleepEventTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testAThreadIsWokenOnlyWhileItSleeps() {
        let readyCount = Locked(0)
        let event = SleepEvent { readyCount.withLock { $0 += 1 } }
        XCTAssertFalse(event.wake())
        event.sleep { XCTAssertTrue(event.wake()) }
        XCTAssertFalse(event.wake())
        XCTAssertEqual(readyCount.withLock { $0 }, 1)
    }

    func testAThreadThatStopsToSleepMeanwhileDoesNotCountAsWoken() throws {
        let (isAsleep, isReady, hasEnded) = (MonotonicSemaphore(), MonotonicSemaphore(), MonotonicSemaphore())
        let timeout = timeout
        // The sleep ends after `wake` has seen it and before `wake` returns.
        let event = SleepEvent {
            isReady.signal()
            XCTAssertTrue(hasEnded.wait(until: .after(timeout)))
        }
        let thread = RunLoopThread(name: "sleeping")
        try thread.start()
        try thread.perform {
            event.sleep {
                isAsleep.signal()
                XCTAssertTrue(isReady.wait(until: .after(timeout)))
            }
            hasEnded.signal()
        }
        XCTAssertTrue(isAsleep.wait(until: .after(timeout)))
        XCTAssertFalse(event.wake())
        try thread.stopAndWait()
    }

    func testAPortWakesAThreadThatSleepsAndOneThatRunsAnotherMode() throws {
        let thread = RunLoopThread(name: "sleeping")
        try thread.start()
        let mode = RunLoop.Mode("other")
        let received = MonotonicSemaphore()
        let receiver = Receiver(received)
        let port = SignalPort()
        port.setDelegate(receiver)
        try thread.performAndWait(timeout: timeout) {
            RunLoop.current.add(port, forMode: .default)
            RunLoop.current.add(port, forMode: mode)
        }
        for _ in 0..<100 {
            port.signal()
            XCTAssertTrue(received.wait(until: .after(timeout)))
            let begins = MonotonicSemaphore()
            try thread.perform {
                begins.signal()
                _ = RunLoop.current.run(mode: mode, before: .distantFuture)
            }
            XCTAssertTrue(begins.wait(until: .after(timeout)))
            port.signal()
            XCTAssertTrue(received.wait(until: .after(timeout)))
        }
        try thread.stopAndWait()
    }
}

private final class Receiver: NSObject, PortDelegate {
    private let received: MonotonicSemaphore

    init(_ received: MonotonicSemaphore) {
        self.received = received
    }

    func handle(_ message: PortMessage) { received.signal() }
}
