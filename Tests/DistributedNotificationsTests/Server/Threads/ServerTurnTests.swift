import Foundation
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// One client cannot keep others from being served.
final class ServerTurnTests: XCTestCase {
    private let temporary: TemporaryDirectory! = try? TemporaryDirectory()

    func testAFastPosterDelaysAnotherByOneTurnOnly() throws {
        let server = try temporary.startServer()
        let observer = try RawPeer(temporary.directory, observing: "much")
        try observer.register(2, name: "little")
        try observer.synchronize()
        let (much, little) = (try RawPeer(temporary.directory), try RawPeer(temporary.directory))
        // When it goes on, it finds both.
        try server.stopped {
            try much.post("much", numbers: 0..<1000, byteCount: 8)
            try little.write(RawPeer.post("little", number: 0))
        }
        var before = 0
        while try observer.delivered().registrations == [1] { before += 1 }
        XCTAssertLessThanOrEqual(before, ServerLimits().framesPerTurn)
        for _ in before..<1000 { XCTAssertEqual(try observer.delivered().registrations, [1]) }
    }

    func testConnectionsWithoutHelloDoNotKeepOthersFromBeingServed() throws {
        let server = try ServerInThisProcess(temporary) {
            ($0.clientsBeforeHello, $0.helloTimeout) = (2, .seconds(3600))
        }
        let silent = try (0..<100).map { _ in try RawPeer(temporary.directory, name: nil) }
        try RawPeer(temporary.directory).synchronize()
        // The oldest of the silent had to go, for each that came after the second. Now it is no longer counted.
        for peer in silent.prefix(99) { XCTAssertEqual(try peer.next(), .end) }
        XCTAssertEqual(server.lines("it said nothing, and others connected").count, 99)
        try silent.last?.sayHello()
        guard case .frame(.welcome, _)? = try silent.last?.next() else { return XCTFail("the last was not served") }
    }

    func testClientsWhoseHelloIsNotYetReadAreNotDisconnectedForNewcomers() throws {
        let gate = DispatchSemaphore(value: 0)
        let server = try ServerInThisProcess(
            temporary, { $0.clientsBeforeHello = 1 },
            log: { line in
                // It finds all the others at once.
                if line.hasSuffix("(first) connected") { gate.wait() }
            })
        let first = try RawPeer(temporary.directory, name: nil)
        try first.sayHello("first")
        let peers = [first] + (try (0..<50).map { _ in try RawPeer(temporary.directory, name: nil) })
        for peer in peers.dropFirst() { try peer.sayHello() }
        gate.signal()
        for peer in peers {
            guard case .frame(.welcome, _) = try peer.next() else { return XCTFail("one was not served") }
        }
        XCTAssertEqual(server.lines("refused"), [])
    }
}
