import Foundation
import Glibc
import XCTest

@testable import DistributedNotifications

/// Whose turn it is with the server, and what it owes meanwhile.
final class ServerTurnTests: XCTestCase {
    func testAProcessThatPostsMuchAtOnceKeepsAnotherWaitingForOneTurnOnly() throws {
        let place = try FaultPlace()
        let server = try place.startServer()
        let observer = try RawPeer(place.place, name: "observer")
        try observer.register(1, name: "much")
        try observer.register(2, name: "little")
        try observer.synchronize()
        let much = try RawPeer(place.place, name: "much")
        let little = try RawPeer(place.place, name: "little")
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

    func testWhileManyHaveNotSaidHelloOthersWaitToBeAcceptedAndNobodyIsRefused() throws {
        let place = try FaultPlace()
        var limits = ServerLimits()
        limits.clientsBeforeHello = 2
        limits.helloLimit = .seconds(60)
        let server = try ServerInThisProcess(place, limits: limits)
        let served = try RawPeer(place.place, name: "served")
        var silent = try (0..<2).map { _ in try RawPeer(place.place, name: nil) }
        var waiting = try (0..<3).map { _ in try RawPeer(place.place, name: nil) }
        for peer in waiting { try peer.sayHello() }
        // Turns of the server in which it could have accepted them.
        for _ in 0..<10 { try served.synchronize() }
        XCTAssertFalse(waiting.contains { $0.hasInput })
        // One place is enough for all who say hello at once; it is free when one of the silent has spoken, or gone.
        try silent.removeFirst().sayHello()
        for peer in waiting { XCTAssertEqual(try peer.peek(), .welcome) }
        waiting = []
        silent = try (0..<2).map { _ in try RawPeer(place.place, name: nil) }
        let last = try RawPeer(place.place, name: nil)
        try last.sayHello()
        for _ in 0..<10 { try served.synchronize() }
        silent = []
        XCTAssertEqual(try last.peek(), .welcome)
        XCTAssertFalse(server.events.contains { if case .clientRefused = $0 { true } else { false } })
    }
}

extension RawPeer {
    /// Its answer is not waited for.
    fileprivate func sayHello() throws {
        var hello = FrameWriter()
        hello.hello(suspended: false, name: "peer")
        try write(hello.bytes)
    }

    fileprivate var hasInput: Bool {
        var descriptor = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) > 0
    }
}
