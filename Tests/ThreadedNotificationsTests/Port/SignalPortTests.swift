import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The document's claims about its communication port, and a port's life.
final class SignalPortTests: XCTestCase {
    private let timeout = TestTimeout.hang

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

    func testTheDelegateIsCalledOnTheThreadOfTheRunLoopAndWakesIt() throws {
        let thread = try RunLoopThread.started("target")
        let port = SignalPort()
        let receiver = CountingReceiver()
        port.setDelegate(receiver)
        try thread.performAndWait(timeout: timeout) { RunLoop.current.add(port, forMode: .common) }
        let handled = expectation(description: "handled")
        receiver.whenCalled { handled.fulfill() }
        port.signal()
        wait(for: [handled], timeout: TestTimeout.seconds)
        XCTAssertEqual(receiver.lastThread?.name, "target")
        try thread.stopAndWait()
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

    func testAPortRemovedFromItsRunLoopStaysValidAndKeepsItsSignal() {
        let port = SignalPort()
        let receiver = CountingReceiver()
        port.setDelegate(receiver)
        RunLoop.current.add(port, forMode: .common)
        RunLoop.current.remove(port, forMode: .common)
        XCTAssertTrue(port.isValid)
        XCTAssertTrue(port.signal())
        RunLoop.runCurrentOnce()
        XCTAssertEqual(receiver.count, 0)
        RunLoop.current.add(port, forMode: .default)
        defer { port.invalidate() }
        RunLoop.runCurrentOnce()
        XCTAssertEqual(receiver.count, 1)
    }

    func testAPortRefusesSignalsAfterTheEndOfItsThread() throws {
        let thread = try RunLoopThread.started("short")
        let port = SignalPort()
        try thread.perform { RunLoop.current.add(port, forMode: .common) }
        try thread.stopAndWait()
        XCTAssertFalse(port.isValid)
        XCTAssertFalse(port.signal())
    }
}

/// A delegate that counts.
final class CountingReceiver: PortDelegate, Sendable {
    private struct State {
        var count = 0
        var thread: ThreadIdentity?
        var action: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    var count: Int { state.withLock { $0.count } }
    var lastThread: ThreadIdentity? { state.withLock { $0.thread } }

    func whenCalled(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.action = action }
    }

    func handle(_ message: PortMessage) {
        let thread = ThreadIdentity.current
        let action = state.withLock { state in
            state.count += 1
            state.thread = thread
            return state.action
        }
        action?()
    }
}
