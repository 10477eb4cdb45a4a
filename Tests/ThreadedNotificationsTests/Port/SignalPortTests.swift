import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

/// The document's claims about its communication port, and a port's life.
final class SignalPortTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testASignalSentBeforeTheRunLoopRunsIsKept() {
        let port = SignalPort()
        let receiver = CountingReceiver()
        port.setDelegate(receiver)
        RunLoop.current.add(port, forMode: .common)
        defer { port.invalidate() }

        XCTAssertTrue(port.signal())
        XCTAssertEqual(receiver.count, 0)
        RunLoop.runCurrentOnce()
        XCTAssertEqual(receiver.count, 1)
        RunLoop.runCurrentOnce()
        XCTAssertEqual(receiver.count, 1)
    }

    func testSeveralSignalsCallTheDelegateOnce() {
        let port = SignalPort()
        let receiver = CountingReceiver()
        port.setDelegate(receiver)
        RunLoop.current.add(port, forMode: .common)
        defer { port.invalidate() }
        for _ in 0..<5 { port.signal() }
        RunLoop.runCurrentOnce()
        XCTAssertEqual(receiver.count, 1)
    }

    func testAPortAddedForACustomModeIsHandledInThatModeOnly() {
        let port = SignalPort()
        let receiver = CountingReceiver()
        port.setDelegate(receiver)
        let mode = RunLoop.Mode("SignalPortTests")
        RunLoop.current.add(port, forMode: mode)
        defer { port.invalidate() }
        port.signal()
        RunLoop.runCurrentOnce()
        XCTAssertEqual(receiver.count, 0)
        _ = RunLoop.current.run(mode: mode, before: Date())
        XCTAssertEqual(receiver.count, 1)
    }

    func testTheDelegateIsCalledOnTheThreadOfTheRunLoopAndWakesIt() throws {
        let thread = RunLoopThread(name: "target")
        try thread.start()
        let port = SignalPort()
        let receiver = CountingReceiver()
        port.setDelegate(receiver)
        let added = expectation(description: "added")
        try thread.perform {
            RunLoop.current.add(port, forMode: .common)
            added.fulfill()
        }
        wait(for: [added], timeout: TestTimeout.seconds)
        let handled = expectation(description: "handled")
        receiver.whenCalled { handled.fulfill() }
        port.signal()
        wait(for: [handled], timeout: TestTimeout.seconds)
        XCTAssertEqual(receiver.lastThread?.name, "target")
        thread.stop()
        try thread.waitUntilFinished(timeout: timeout)
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

    func testThePortDoesNotRetainItsDelegate() {
        let port = SignalPort()
        var receiver: CountingReceiver? = CountingReceiver()
        weak let observed = receiver
        port.setDelegate(receiver)
        XCTAssertTrue(port.delegate() === receiver)
        receiver = nil
        XCTAssertNil(observed)
        XCTAssertNil(port.delegate())
    }

    func testTheRunLoopRetainsThePortUntilItIsInvalidated() {
        var port: SignalPort? = SignalPort()
        weak let observed = port
        port.map { RunLoop.current.add($0, forMode: .common) }
        port = nil
        XCTAssertNotNil(observed)
        observed?.invalidate()
        XCTAssertNil(observed)
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
        let thread = RunLoopThread(name: "short")
        try thread.start()
        let port = SignalPort()
        try thread.perform { RunLoop.current.add(port, forMode: .common) }
        thread.stop()
        try thread.waitUntilFinished(timeout: timeout)
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
