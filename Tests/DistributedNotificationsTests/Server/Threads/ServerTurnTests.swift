import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// One client cannot keep others from being served.
final class ServerTurnTests: XCTestCase {
    func testAFastPosterDelaysAnotherByOneTurnOnly() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        let observer = try RawPeer(temporary.directory, name: "observer")
        try observer.register(1, name: "much")
        try observer.register(2, name: "little")
        try observer.synchronize()
        let much = try RawPeer(temporary.directory, name: "much")
        let little = try RawPeer(temporary.directory, name: "little")
        // When it goes on, it finds both.
        kill(server.id, SIGSTOP)
        defer { kill(server.id, SIGCONT) }
        XCTAssertTrue(eventually { server.isStopped })
        try much.post("much", numbers: 0..<1000, byteCount: 8)
        try little.write(RawPeer.post("little", number: 0))
        kill(server.id, SIGCONT)
        var before = 0
        while try observer.delivered().registrations == [1] { before += 1 }
        XCTAssertLessThanOrEqual(before, ServerLimits().framesPerTurn)
        for _ in before..<1000 { XCTAssertEqual(try observer.delivered().registrations, [1]) }
    }

    func testConnectionsWithoutHelloDoNotKeepOthersFromBeingServed() throws {
        let temporary = try FaultDirectory()
        var limits = ServerLimits()
        limits.clientsBeforeHello = 2
        limits.helloTimeout = .seconds(3600)
        let server = try ServerInThisProcess(temporary, limits: limits)
        let silent = try (0..<100).map { _ in try RawPeer(temporary.directory, name: nil) }
        let served = try RawPeer(temporary.directory, name: "served")
        try served.synchronize()
        // The oldest of the silent had to go, for each that came after the second. Now it is no longer counted.
        for peer in silent.prefix(99) { XCTAssertEqual(try peer.next(), .end) }
        XCTAssertFalse(try XCTUnwrap(silent.last).hasInput)
        let refused = server.events.count { if case .clientRefused = $0 { true } else { false } }
        XCTAssertEqual(refused, 99)
        try silent.last?.sayHello()
        XCTAssertEqual(try silent.last?.peek(), .welcome)
    }

    func testClientsWhoseHelloIsNotYetReadAreNotDisconnectedForNewcomers() throws {
        let temporary = try FaultDirectory()
        var limits = ServerLimits()
        limits.clientsBeforeHello = 1
        let gate = DispatchSemaphore(value: 0)
        let server = try ServerInThisProcess(temporary, limits: limits) { event in
            // It finds all the others at once.
            if case .clientConnected(_, "first") = event { gate.wait() }
        }
        let first = try RawPeer(temporary.directory, name: nil)
        try first.sayHello(name: "first")
        let others = try (0..<50).map { _ in try RawPeer(temporary.directory, name: nil) }
        for peer in others { try peer.sayHello() }
        gate.signal()
        for peer in [first] + others { XCTAssertEqual(try peer.peek(), .welcome) }
        XCTAssertFalse(server.events.contains { if case .clientRefused = $0 { true } else { false } })
    }
}

extension RawPeer {
    /// Its answer is not waited for.
    fileprivate func sayHello(name: String = "peer") throws {
        var hello = FrameWriter()
        hello.hello(suspended: false, name: name)
        try write(hello.bytes)
    }

    fileprivate var hasInput: Bool {
        var descriptor = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) > 0
    }
}
