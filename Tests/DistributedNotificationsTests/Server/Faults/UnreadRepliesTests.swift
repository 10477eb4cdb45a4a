import Glibc
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// A client that asks and does not read the replies is not read either, until it reads them or is disconnected.
final class UnreadRepliesTests: XCTestCase {
    /// Asks for replies until the server reads no more.
    ///
    /// - Returns: the number of replies to read.
    private func askUntilItIsNotRead(
        _ peer: RawPeer, _ temporary: FaultDirectory, _ limits: ServerLimits = ServerLimits()
    ) throws -> Int {
        var requests = FrameWriter()
        for _ in 0..<1000 { requests.frame(.synchronize) { $0.integer(UInt64(0)) } }
        let bytes = requests.bytes
        var sent = 0
        var isFull = false
        while !isFull {
            let waiting = try temporary.status().clients.first { $0.name == "unread" }?.waitingBytes ?? 0
            isFull = waiting > limits.repliesLimit
            // Also if it is full, so that requests wait to be read.
            while true {
                let count = bytes[(sent % bytes.count)...].withUnsafeBytes {
                    send(peer.socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
                }
                if count < 0, errno == EAGAIN { break }
                guard count > 0 else { throw RawPeer.Problem.wrote(errno) }
                sent += count
            }
        }
        return sent / (bytes.count / 1000)
    }

    func testAClientWithUnreadRepliesDoesNotWakeTheServerAndIsServedWhenItReads() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        let unread = try RawPeer(temporary.directory, name: "unread")
        let replies = try askUntilItIsNotRead(unread, temporary)
        XCTAssertTrue(eventually { server.isSleeping })
        let before = try XCTUnwrap(server.switches)
        try RawPeer.roundTrips(10_000)
        // A timer of a millisecond would wake it hundreds of times.
        XCTAssertLessThan(try XCTUnwrap(server.switches) - before, 20)
        for _ in 0..<replies {
            guard case .frame(.synchronized, _) = try unread.next() else { return XCTFail("a reply is missing") }
        }
        XCTAssertEqual(try temporary.status().clients.map(\.waitingBytes), [0])
    }

    func testAClientThatReadsNoRepliesIsDisconnectedAfterItsLimit() throws {
        let temporary = try FaultDirectory()
        var limits = ServerLimits()
        (limits.hardQueueBytes, limits.heldBytesPerClient, limits.progressTimeout) = (0, 0, .milliseconds(300))
        let server = try ServerInThisProcess(temporary, limits: limits)
        let unread = try RawPeer(temporary.directory, name: "unread")
        // A slow machine may disconnect it before.
        _ = try? askUntilItIsNotRead(unread, temporary, limits)
        XCTAssertTrue(
            server.wait {
                $0.contains {
                    guard case .clientGone(_, "unread", let reason?) = $0 else { return false }
                    return reason.contains("read nothing")
                }
            })
    }
}
