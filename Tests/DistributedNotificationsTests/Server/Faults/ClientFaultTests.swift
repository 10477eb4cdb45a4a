import Foundation
import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Clients that are stopped, killed or forked, or that belong to another user.
final class ClientFaultTests: XCTestCase {
    /// So much that a queue of 1 MiB is full, and much more is missed.
    private static let posts = 20_000

    private func ready(_ client: FaultClient) throws {
        XCTAssertEqual(try client.line(), "ready")
        // That comes on its main thread, which runs its loop only now.
        let connected = try client.line()
        XCTAssertTrue(connected.hasPrefix("connected "), connected)
    }

    /// Posts `n` with increasing numbers as objects, which a center can read.
    private func post(_ count: Int, from first: Int = 0, over peer: RawPeer) throws {
        var bytes: [UInt8] = []
        for number in first..<first + count {
            var frame = FrameWriter(capacity: 200)
            frame.frame(.post) {
                $0.integer(PostedPayload.hasObject)
                $0.string("n")
                $0.string(String(repeating: "0", count: 150 - "\(number)".count) + "\(number)")
            }
            bytes += frame.bytes
            if bytes.count > 60_000 || number == first + count - 1 {
                try peer.write(bytes)
                bytes = []
            }
        }
        try peer.synchronize()
    }

    private struct Line {
        var what: Substring
        var received, gap: Int
        var isInOrder: Bool

        init(_ line: String) throws {
            let words = line.split(separator: " ")
            guard words.count == 4, let received = Int(words[1]), let gap = Int(words[2]) else {
                throw FaultClient.Problem.late(line)
            }
            (what, self.received, self.gap, isInOrder) = (words[0], received, gap, words[3] == "true")
        }
    }

    func testNotificationsThatAStoppedClientMissesAreCountedAndLaterOnesAreDelivered() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        let client = try FaultClient(.observer, at: temporary)
        try ready(client)
        let poster = try RawPeer(temporary.directory, name: "poster")
        let healthy = try RawPeer(temporary.directory, name: "healthy", observing: "n")
        for round in 0..<2 {
            client.stop()
            let first = round * Self.posts
            var tally = Tally()
            // In parts, after each of which the healthy one reads, so that it misses nothing.
            for part in 0..<10 {
                try post(Self.posts / 10, from: first + part * Self.posts / 10, over: poster)
                for received in try healthy.synchronize() where received != .end {
                    if case .frame(.notification, _) = received { tally.received += 1 }
                    if case .frame(.gap, _) = received { tally.gap += 1 }
                }
            }
            XCTAssertEqual(tally.received, Self.posts)
            XCTAssertEqual(tally.gap, 0)
            client.signal(SIGCONT)
            let line = try Line(try client.line())
            XCTAssertEqual(line.what, "gap")
            XCTAssertEqual(line.received + line.gap, first + Self.posts, "round \(round): \(line)")
            XCTAssertTrue(line.isInOrder)
            XCTAssertGreaterThan(line.gap, 0)
        }
        XCTAssertFalse(server.isGone)
    }

    func testAKilledClientsFullBufferIsFreed() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        let poster = try RawPeer(temporary.directory, name: "poster")
        let healthy = try RawPeer(temporary.directory, name: "healthy")
        try healthy.register(1, name: "n")
        for _ in 0..<3 {
            let client = try FaultClient(.observer, at: temporary)
            try ready(client)
            client.stop()
            var received = 0
            for part in 0..<8 {
                try post(1000, from: part * 1000, over: poster)
                received += try healthy.synchronize().count
            }
            XCTAssertEqual(received, 8000)
            let full = try temporary.status().clients.first { $0.process == client.process.id }
            XCTAssertGreaterThan(try XCTUnwrap(full).dropped, 0)
            XCTAssertGreaterThan(try XCTUnwrap(full).waitingBytes, 512 << 10)
            client.signal(SIGKILL)
            XCTAssertTrue(try eventually { try temporary.status().clients.count == 2 })
        }
        XCTAssertFalse(server.isGone)
        XCTAssertEqual(try temporary.status().clients.map(\.name), ["poster", "healthy"])
    }

    func testAForkedCopyOfAClientGetsAnErrorAndItsParentContinues() throws {
        let temporary = try FaultDirectory()
        _ = try temporary.startServer()
        let client = try FaultClient(.forker, at: temporary)
        XCTAssertEqual(try client.line(), "copy 0 parent 1 false")
    }

    func testAnotherUsersProcessIsRefusedBeforeItIsRead() throws {
        try XCTSkipIf(geteuid() != 0, "only root can start a process of another user")
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        temporary.openToOthers()
        for _ in 0..<5 {
            let client = try FaultClient(.stranger, at: temporary)
            XCTAssertEqual(try client.line(), "it belongs to user 65534, and this server to user 0")
        }
        XCTAssertEqual(
            server.events.filter { if case .clientRefused = $0 { true } else { false } }.count, 5)
        XCTAssertFalse(server.events.contains { if case .clientConnected = $0 { true } else { false } })
    }

    func testFortyClientsThatStartTogetherWithoutAServerUseOneServer() throws {
        for round in 0..<FaultRounds.coldStarts {
            let temporary = try FaultDirectory()
            let clients = try (0..<40).map { _ in try FaultClient(.onlyOnce, at: temporary) }
            let lines = try clients.map { try $0.line(limit: TestTimeout.hang) }
            let server = try XCTUnwrap(
                try ServerStart.connectIfServed(temporary.directory, timeout: TestTimeout.hang)?.peer?.process)
            XCTAssertEqual(Set(lines), ["served \(server)"], "round \(round)")
        }
    }
}
