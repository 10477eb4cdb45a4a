import Foundation
import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// What a server does in time, and what it does not wake up for.
final class TimeoutTests: XCTestCase {
    private let temporary: TemporaryDirectory! = try? TemporaryDirectory()

    func testAClientWithoutHelloIsDisconnectedAtTheTimeoutAndOthersAreNot() throws {
        let server = try ServerInThisProcess(temporary) { $0.helloTimeout = .milliseconds(100) }
        // On a busy machine one may be too late, and is told to go.
        var inTime: RawPeer?
        while inTime == nil { inTime = try? RawPeer(temporary.directory) }
        let silent = try (0..<2).map { _ in try RawPeer(temporary.directory, name: nil) }
        try? silent[1].write([9])
        for peer in silent { XCTAssertEqual(try peer.farewell(), "it said nothing for 0.1 seconds") }
        try inTime?.synchronize()
        withExtendedLifetime(server) {}
    }

    func testAClientThatReadsNothingIsDisconnectedAtTheTimeoutAndOthersAreNot() throws {
        let server = try ServerInThisProcess(temporary) { $0.progressTimeout = .milliseconds(300) }
        let stalled = try RawPeer(temporary.directory, name: "stalled", observing: "n")
        let reading = try RawPeer(temporary.directory, name: "reading", observing: "n")
        let poster = try RawPeer(temporary.directory, name: "poster")
        // In parts that fit into a socket: so the server never waits for the one that reads, however busy the machine
        // is.
        for first in stride(from: 0, to: 5000, by: 100) {
            try poster.post("n", numbers: first..<first + 100)
            for number in first..<first + 100 { XCTAssertEqual(try reading.delivered().number, number) }
        }
        XCTAssertTrue(server.hasLogged("(stalled) disconnected: it read nothing"))
        try reading.synchronize()
        // The part that the kernel had already received.
        var (tally, end) = (Tally(), RawPeer.Received?.none)
        while end != .end {
            end = try stalled.next()
            try tally.see([end!])
        }
        XCTAssertTrue(tally.isInOrder)
        XCTAssertLessThan(tally.received, 5000)
    }

    func testTheIdleTimeoutBeginsWhenTheLastClientDisconnects() throws {
        var limits = ServerLimits()
        limits.idleTimeout = .milliseconds(50)
        let server = LocalServer(directory: temporary.directory, limits: limits)
        let served = try ServedSocket.open(at: temporary.directory, timeout: TestTimeout.hang)
        // It waits already when the server begins.
        var peer: RawPeer? = try RawPeer(temporary.directory, name: nil)
        let hasEnded = Awaited(false)
        Thread.detachNewThread {
            try? server.serve(served, endsWhenIdle: true)
            hasEnded.withLock { $0 = true }
        }
        // Longer than the timeout; nothing wakes the server meanwhile.
        XCTAssertFalse(hasEnded.wait(0.15) { $0 } || peer == nil)
        let leaving = SuspendingClock.now
        peer = nil
        XCTAssertTrue(hasEnded.wait { $0 })
        // A lower bound, which a busy machine does not break.
        XCTAssertGreaterThanOrEqual(leaving.duration(to: .now), limits.idleTimeout)
        XCTAssertNotEqual(access(temporary.directory.socketPath, F_OK), 0)
    }

    func testAFastPosterIsSlowedDownAndNoPostIsDropped() throws {
        let server = try ServerInThisProcess(temporary) { ($0.postsAtOnce, $0.postsPerSecond) = (100, 4000) }
        let observer = try RawPeer(temporary.directory, observing: "n")
        let fast = try RawPeer(temporary.directory)
        let began = SuspendingClock.now
        try fast.post("n", numbers: 0..<1100)
        for number in 0..<1100 { XCTAssertEqual(try observer.delivered().number, number) }
        // 1000 of them at 4000 a second: it is a lower bound, which no slow computer breaks.
        XCTAssertGreaterThan(SuspendingClock.now - began, .milliseconds(200))
        withExtendedLifetime(server) {}
    }

    /// Asks for replies until the server does not read any more.
    /// - Returns: the number of replies to read.
    private func askUntilItIsNotRead(_ peer: RawPeer, _ limits: ServerLimits = ServerLimits()) throws -> Int {
        var request = FrameWriter()
        request.frame(.synchronize) { $0.integer(UInt64(0)) }
        let bytes = (0..<1000).flatMap { _ in request.bytes }
        var sent = 0
        while true {
            let isFull = try temporary.client("unread").waitingBytes > limits.repliesLimit
            // Also if it is full, so that requests wait to be read.
            while let count = try peer.offer(bytes[(sent % bytes.count)...]) { sent += count }
            if isFull { return sent / request.bytes.count }
        }
    }

    func testAClientWithUnreadRepliesDoesNotWakeTheServerAndIsServedWhenItReads() throws {
        let server = try temporary.startServer()
        let unread = try RawPeer(temporary.directory, name: "unread")
        let replies = try askUntilItIsNotRead(unread)
        XCTAssertTrue(eventually { server.isSleeping })
        let before = server.waits
        // Work that takes a while, with another server: a timer of a millisecond would wake this one hundreds of times.
        let other = try TemporaryDirectory()
        let otherServer = try ServerInThisProcess(other)
        let peer = try RawPeer(other.directory)
        for _ in 0..<3000 { try peer.synchronize() }
        XCTAssertLessThan(server.waits - before, 20)
        for _ in 0..<replies {
            guard case .frame(.synchronized, _) = try unread.next() else { return XCTFail("a reply is missing") }
        }
        XCTAssertEqual(try temporary.client("unread").waitingBytes, 0)
        withExtendedLifetime(otherServer) {}
    }

    func testAClientThatReadsNoRepliesIsDisconnectedAtTheTimeout() throws {
        var limits = ServerLimits()
        (limits.hardQueueBytes, limits.heldBytesPerClient, limits.progressTimeout) = (0, 0, .milliseconds(300))
        let server = try ServerInThisProcess(temporary) { $0 = limits }
        let unread = try RawPeer(temporary.directory, name: "unread")
        // A slow machine may disconnect it before.
        _ = try? askUntilItIsNotRead(unread, limits)
        XCTAssertTrue(server.hasLogged("(unread) disconnected: it read nothing"))
    }
}
