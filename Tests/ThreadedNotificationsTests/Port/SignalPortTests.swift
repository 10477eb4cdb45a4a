import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The document's claims about its communication port, and a port's life.
final class SignalPortTests: XCTestCase {
    func testSignalsBeforeTheRunLoopRunsInThePortsModeCallTheDelegateOnce() {
        let own = RunLoop.Mode("SignalPortTests")
        for mode in [RunLoop.Mode.common, own] {
            let (port, receiver) = (SignalPort(), CountingReceiver())
            port.setDelegate(receiver)
            RunLoop.current.add(port, forMode: mode)
            for _ in 0..<5 { XCTAssertTrue(port.signal()) }
            XCTAssertEqual(receiver.count, 0)
            if mode == own {
                RunLoop.runCurrentOnce()
                XCTAssertEqual(receiver.count, 0)
            }
            for _ in 0..<2 { RunLoop.pollCurrent(in: mode == own ? own : .default) }
            XCTAssertEqual(receiver.count, 1)
            port.invalidate()
        }
    }

    func testTheDelegateIsCalledOnTheThreadOfTheRunLoopAndTheEndOfTheThreadEndsThePort() throws {
        let thread = try RunLoopThread.started("target")
        let (port, receiver) = (SignalPort(), CountingReceiver())
        port.setDelegate(receiver)
        try thread.performAndWait(timeout: TestTimeout.hang) { RunLoop.current.add(port, forMode: .common) }
        let handled = expectation(description: "handled")
        receiver.whenCalled {
            XCTAssertTrue(thread.isCurrent)
            handled.fulfill()
        }
        port.signal()
        wait(for: [handled], timeout: TestTimeout.seconds)
        try thread.stopAndWait()
        XCTAssertFalse(port.isValid)
        XCTAssertFalse(port.signal())
    }

    func testAnInvalidPortRefusesSignalsAndIsNotHandled() {
        let port = SignalPort()
        let receiver = CountingReceiver()
        port.setDelegate(receiver)
        RunLoop.current.add(port, forMode: .common)
        port.signal()
        port.invalidate()
        XCTAssertFalse(port.isValid)
        XCTAssertFalse(port.signal())
        RunLoop.runCurrentOnce()
        XCTAssertEqual(receiver.count, 0)
    }

    func testThePortDoesNotRetainItsDelegateAndTheRunLoopRetainsThePortUntilItIsInvalidated() {
        var port: SignalPort? = SignalPort()
        var receiver: CountingReceiver? = CountingReceiver()
        weak let observedPort = port
        weak let observedReceiver = receiver
        port?.setDelegate(receiver)
        XCTAssertTrue(port?.delegate() === receiver)
        receiver = nil
        XCTAssertNil(observedReceiver)
        XCTAssertNil(port?.delegate())
        port.map { RunLoop.current.add($0, forMode: .common) }
        port = nil
        XCTAssertNotNil(observedPort)
        observedPort?.invalidate()
        XCTAssertNil(observedPort)
    }
}

/// A delegate that counts.
final class CountingReceiver: PortDelegate, Sendable {
    private struct State {
        var count = 0
        var action: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var count: Int { state.withLock { $0.count } }

    func whenCalled(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.action = action }
    }

    func handle(_ message: PortMessage) {
        let action = state.withLock { state in
            state.count += 1
            return state.action
        }
        action?()
    }
}
