import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

/// Servers that are killed, or whose socket is removed.
final class KilledServerTests: XCTestCase {
    private let temporary: TemporaryDirectory! = try? TemporaryDirectory()

    /// Forty of them start without a server; then it is killed, and its socket stays.
    func testClientsThatStartTogetherUseOneServerWhichReplacesAKilledOne() throws {
        var servers: Set<Int32> = []
        for round in 0..<TestRounds.rounds(5, stress: 40) {
            let connected = Awaited([Int32]())
            let directory = temporary.directory
            for _ in 0..<40 {
                Thread.detachNewThread {
                    let socket = try? ServerStart.connect(to: directory, timeout: TestTimeout.hang)
                    connected.withLock { $0.append(socket?.peer?.process ?? -1) }
                }
            }
            XCTAssertTrue(connected.wait { $0.count == 40 })
            let server = Set(connected.withLock(\.self))
            XCTAssertEqual(server.count, 1, "round \(round)")
            servers.formUnion(server)
            XCTAssertEqual(servers.count, round + 1)
            temporary.end(server.first ?? -1)
            XCTAssertEqual(access(directory.socketPath, F_OK), 0)
        }
    }

    func testAServerWhoseSocketIsRemovedEndsAndItsClientsConnectToTheNextAsTheyWere() throws {
        _ = try temporary.startServer()
        let center = try DistributedCenter(directory: temporary.directory, postTimeout: TestTimeout.hang)
        let (connections, received) = (Awaited([Int32]()), Awaited([String?]()))
        let tokens = [
            center.addConnectionObserver(on: TargetThread.postingThread) { event in
                if case .connected(let server) = event { connections.withLock { $0.append(server) } }
            },
            try center.addObserver(
                forName: .numbered, suspensionBehavior: .hold, on: TargetThread.postingThread
            ) { notification in received.withLock { $0.append(notification.object) } },
        ]
        center.suspend()
        try center.synchronize(timeout: TestTimeout.hang)
        XCTAssertEqual(unlink(temporary.directory.socketPath), 0)
        XCTAssertTrue(connections.wait { Set($0).count == 2 })
        try center.synchronize(timeout: TestTimeout.hang)
        try center.post(name: .numbered, object: "held")
        try center.synchronize(timeout: TestTimeout.hang)
        XCTAssertEqual(try temporary.status().heldEntries, 1)
        XCTAssertEqual(received.withLock(\.self), [])
        center.resume()
        try center.synchronize(timeout: TestTimeout.hang)
        XCTAssertEqual(received.withLock(\.self), ["held"])
        withExtendedLifetime(tokens) {}
    }

    func testWhatIsLostWithKilledServersIsMissingSoThatAllAddsUp() throws {
        _ = try temporary.startServer()
        let (poster, observer) = (
            try DistributedCenter(directory: temporary.directory, postTimeout: TestTimeout.hang),
            try DistributedCenter(directory: temporary.directory, postTimeout: TestTimeout.hang)
        )
        let (seen, kills) = (Awaited((received: 0, missing: 0, interruptions: 0)), FaultRounds.kills)
        let tokens = [
            observer.addConnectionObserver(on: TargetThread.postingThread) { event in
                seen.withLock {
                    if case .gap(let gap) = event { $0.missing += gap.count }
                    if case .interrupted = event { $0.interruptions += 1 }
                }
            },
            try observer.addObserver(forName: .numbered, suspensionBehavior: .hold, on: TargetThread.postingThread) {
                _ in
                seen.withLock { $0.received += 1 }
            },
        ]
        for center in [observer, poster] { try center.synchronize(timeout: TestTimeout.hang) }
        try poster.post(name: .numbered)
        XCTAssertTrue(seen.wait { $0.received == 1 })
        let (posted, posters) = (Awaited(1), Awaited((running: 2, areDone: false)))
        // Of the large ones, a socket often takes a part.
        for byteCount in [0, 50_000] {
            Thread.detachNewThread {
                while !posters.withLock(\.areDone) {
                    let isPosted: Void? = try? poster.post(
                        name: .numbered, userInfo: ["": .data(Data(count: byteCount))])
                    if isPosted != nil { posted.withLock { $0 += 1 } }
                }
                posters.withLock { $0.running -= 1 }
            }
        }
        for kill in 1..<kills + 1 {
            let before = posted.withLock(\.self)
            XCTAssertTrue(posted.wait { $0 > before + 100 })
            if let server = observer.serverProcess { temporary.end(server) }
            XCTAssertTrue(seen.wait { $0.interruptions == kill })
            try observer.synchronize(timeout: TestTimeout.hang)
        }
        posters.withLock { $0.areDone = true }
        XCTAssertTrue(posters.wait { $0.running == 0 })
        try poster.post(name: .numbered)
        let all = posted.withLock(\.self) + 1
        XCTAssertTrue(seen.wait { $0.received + $0.missing >= all })
        XCTAssertEqual(seen.withLock { $0.received + $0.missing }, all)
        withExtendedLifetime(tokens) {}
    }
}
