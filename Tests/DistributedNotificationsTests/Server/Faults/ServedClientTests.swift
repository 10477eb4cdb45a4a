import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The numbers of a server, its timeouts, and the order in which it reads from its clients.
final class ServedClientTests: XCTestCase {
    private let temporary: FaultDirectory! = try? FaultDirectory()

    /// Whether the server reported that a client has gone for a reason.
    private func isGone(_ name: String, _ reason: String, _ server: ServerInThisProcess) -> Bool {
        server.wait {
            $0.contains {
                guard case .clientGone(_, name, let given?) = $0 else { return false }
                return given.contains(reason)
            }
        }
    }

    // MARK: The status

    private func assertItAddsUp(_ status: ServerStatus, _ line: UInt = #line) {
        let counts = [status.delivered, status.dropped, status.discarded, status.coalesced, status.suppressed]
        XCTAssertEqual(status.matched, counts.reduce(status.removed + status.heldEntries, +), "server", line: line)
        for client in status.clients {
            let counts = [client.delivered, client.dropped, client.discarded, client.coalesced, client.suppressed]
            XCTAssertEqual(
                client.matched, counts.reduce(client.removed + client.heldEntries, +), client.name, line: line)
        }
        XCTAssertEqual(status.heldEntries, status.clients.reduce(0) { $0 + $1.heldEntries }, line: line)
    }

    func testTheNumbersOfTheStatusAddUpForEachClientAndForTheServer() throws {
        var limits = ServerLimits()
        (limits.heldEntriesPerClient, limits.softQueueBytes, limits.hardQueueBytes) = (3, 1000, 100_000)
        let server = try ServerInThisProcess(temporary, limits: limits)
        let suspended = try RawPeer(temporary.directory, name: "suspended", suspended: true)
        for (number, name, behavior) in [
            (1, "coalesced", .coalesce), (2, "held", .hold), (3, "suppressed", .drop), (4, "removed", .hold),
        ] as [(UInt32, String, SuspensionBehavior)] {
            try suspended.register(number, name: name, behavior: behavior)
        }
        let slow = try RawPeer(temporary.directory, name: "slow")
        try slow.register(1, name: "large")
        for peer in [suspended, slow] { try peer.synchronize() }
        let poster = try RawPeer(temporary.directory, name: "poster")
        try poster.post("removed", numbers: 0..<1)
        try poster.synchronize()
        try suspended.frame(.unregister) { $0.integer(UInt32(4)) }
        try suspended.synchronize()
        for (name, count) in [("coalesced", 5), ("suppressed", 4), ("held", 6), ("unobserved", 9)] {
            try poster.post(name, numbers: 0..<count)
        }
        try poster.post("large", numbers: 0..<100, byteCount: 50_000)
        try poster.synchronize()
        let status = try temporary.status()
        assertItAddsUp(status)
        XCTAssertEqual(status.posted, 125)
        XCTAssertEqual(status.matched, 116)
        let client = try XCTUnwrap(status.clients.first { $0.name == "suspended" })
        XCTAssertEqual(
            [
                client.matched, client.coalesced, client.suppressed, client.discarded, client.removed,
                client.heldEntries,
            ],
            [16, 4, 4, 4, 1, 3])
        let dropped = try XCTUnwrap(status.clients.first { $0.name == "slow" }?.dropped)
        XCTAssertGreaterThan(dropped, 50)
        // The outcomes of a client's notifications stay in the server's numbers when it has gone.
        try suspended.frame(.farewell)
        XCTAssertEqual(try suspended.next(), .end)
        let later = try temporary.status()
        assertItAddsUp(later)
        XCTAssertEqual([later.matched, later.removed, later.dropped, later.heldEntries], [116, 4, dropped, 0])
        withExtendedLifetime(server) {}
    }

    func testAnImmediatePostFollowsAllThatIsHeldAlsoIfThatFillsTheBuffer() throws {
        var limits = ServerLimits()
        (limits.softQueueBytes, limits.hardQueueBytes) = (1000, 500_000)
        let server = try ServerInThisProcess(temporary, limits: limits)
        let suspended = try RawPeer(temporary.directory, name: "suspended", suspended: true)
        try suspended.register(1, name: "large", behavior: .hold)
        try suspended.synchronize()
        let center = try DistributedCenter(directory: temporary.directory)
        let data = PropertyListValue.data(Data(count: 50_000))
        for _ in 0..<10 { try center.post(name: Notification.Name("large"), userInfo: ["data": data]) }
        try center.post(name: Notification.Name("large"), userInfo: ["data": data], deliverImmediately: true)
        try center.synchronize()
        let client = try XCTUnwrap(temporary.status().clients.first { $0.name == "suspended" })
        XCTAssertEqual([client.delivered, client.dropped, client.heldEntries], [11, 0, 0])
        withExtendedLifetime((server, center)) {}
    }

    // MARK: Timeouts

    func testAClientWithoutHelloIsDisconnectedAtTheTimeoutAndOthersAreNot() throws {
        var limits = ServerLimits()
        limits.helloTimeout = .milliseconds(100)
        let server = try ServerInThisProcess(temporary, limits: limits)
        // On a busy machine one may be too late, and is told to go.
        var inTime: RawPeer?
        XCTAssertTrue(
            eventually {
                inTime = try? RawPeer(temporary.directory, name: "spoke")
                return inTime != nil
            })
        let silent = try (0..<2).map { _ in try RawPeer(temporary.directory, name: nil) }
        try? silent[1].write([9])
        for peer in silent {
            let bye = try peer.farewell()
            XCTAssertEqual(bye.reason, .refused)
            XCTAssertTrue(bye.text.contains("it said nothing for 0.1 seconds"), bye.text)
        }
        try inTime?.synchronize()
        withExtendedLifetime(server) {}
    }

    func testAClientThatReadsNothingIsDisconnectedAtTheTimeoutAndOthersAreNot() throws {
        var limits = ServerLimits()
        limits.progressTimeout = .milliseconds(300)
        let server = try ServerInThisProcess(temporary, limits: limits)
        let stalled = try RawPeer(temporary.directory, name: "stalled")
        let reading = try RawPeer(temporary.directory, name: "reading")
        for peer in [stalled, reading] {
            try peer.register(1, name: "n")
            try peer.synchronize()
        }
        let poster = try RawPeer(temporary.directory, name: "poster")
        // In parts that fit into a socket: so the server never waits for the one that reads, however busy the machine
        // is.
        for first in stride(from: 0, to: 5000, by: 100) {
            try poster.post("n", numbers: first..<first + 100)
            for number in first..<first + 100 { XCTAssertEqual(try reading.delivered().number, number) }
        }
        XCTAssertTrue(isGone("stalled", "read nothing", server))
        try reading.synchronize()
        var tally = Tally()
        while case let received = try stalled.next(), received != .end { try tally.add(received) }
        // The part that the kernel had already received.
        XCTAssertTrue(tally.isInOrder)
        XCTAssertLessThan(tally.received, 5000)
        XCTAssertEqual(try temporary.status().clients.map(\.name), ["reading", "poster"])
    }

    func testTheIdleTimeoutBeginsWhenTheLastClientDisconnects() throws {
        var limits = ServerLimits()
        limits.idleTimeout = .milliseconds(200)
        let server = try ServerInThisProcess(temporary, limits: limits, endsWhenIdle: true)
        var peer: RawPeer? = try RawPeer(temporary.directory)
        try peer?.synchronize()
        // Longer than the limit, and nothing wakes the server meanwhile.
        XCTAssertFalse(server.wait(0.4) { $0.count > 2 })
        let leaving = SuspendingClock.now
        peer = nil
        XCTAssertTrue(server.wait { $0.contains { if case .stopping = $0 { true } else { false } } })
        // A lower bound, which a busy machine does not break.
        XCTAssertGreaterThanOrEqual(leaving.duration(to: .now), limits.idleTimeout)
    }

    func testAStopIsNoticedOnceAlsoByAServerThatAlreadyStops() throws {
        for isStopping in [false, true] {
            let temporary = try TemporaryDirectory()
            let stop = try XCTUnwrap(EventDescriptor())
            let served = try ServedSocket.open(at: temporary.directory, timeout: TestTimeout.hang)
            guard
                var loop = ServerLoop(served, limits: ServerLimits(), endsWhenIdle: false, stop: stop, report: { _ in })
            else { return XCTFail("no descriptor is left") }
            if isStopping { loop.beginStop("its socket was removed") }
            stop.makeReady()
            loop.turn()
            var descriptor = pollfd(fd: stop.number, events: Int16(POLLIN), revents: 0)
            XCTAssertEqual(poll(&descriptor, 1, 0), 0, "the next turn would begin immediately")
            let stopAt = loop.stopAt
            XCTAssertNotNil(stopAt)
        }
    }

    // MARK: Reading

    func testPostsOfAClientThatHasEndedAreDelivered() throws {
        let server = try ServerInThisProcess(temporary)
        let observer = try RawPeer(temporary.directory, name: "observer", observing: "n")
        for round in 0..<20 {
            do {
                let poster = try RawPeer(temporary.directory, name: "poster")
                // It gets what it posts, and does not read it.
                try poster.register(1, name: "n")
                try poster.post("n", numbers: 0..<1000)
            }
            var tally = Tally()
            XCTAssertTrue(
                try eventually {
                    for received in try observer.synchronize() { try tally.add(received) }
                    return tally.received + tally.gap >= 1000
                }, "round \(round): \(tally)")
            XCTAssertEqual(tally, Tally(all: 1000))
        }
        XCTAssertTrue(eventually { (try? temporary.status().clients.count) == 1 })
        withExtendedLifetime(server) {}
    }

    func testAFastPosterIsSlowedDownAndNoPostIsDropped() throws {
        var limits = ServerLimits()
        (limits.postsAtOnce, limits.postsPerSecond) = (100, 4000)
        let server = try ServerInThisProcess(temporary, limits: limits)
        let observer = try RawPeer(temporary.directory, name: "observer", observing: "n")
        let fast = try RawPeer(temporary.directory, name: "fast")
        let began = SuspendingClock.now
        try fast.post("n", numbers: 0..<1100)
        for number in 0..<1100 { XCTAssertEqual(try observer.delivered().number, number) }
        // 1000 of them at 4000 a second: it is a lower bound, which no slow computer breaks.
        XCTAssertGreaterThan(SuspendingClock.now - began, .milliseconds(200))
        withExtendedLifetime(server) {}
    }

    /// Asks for replies until the server stops reading.
    /// - Returns: the number of replies to read.
    private func askUntilItIsNotRead(_ peer: RawPeer, _ limits: ServerLimits = ServerLimits()) throws -> Int {
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
        let server = try temporary.startServer()
        let unread = try RawPeer(temporary.directory, name: "unread")
        let replies = try askUntilItIsNotRead(unread)
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

    func testAClientThatReadsNoRepliesIsDisconnectedAtTheTimeout() throws {
        var limits = ServerLimits()
        (limits.hardQueueBytes, limits.heldBytesPerClient, limits.progressTimeout) = (0, 0, .milliseconds(300))
        let server = try ServerInThisProcess(temporary, limits: limits)
        let unread = try RawPeer(temporary.directory, name: "unread")
        // A slow machine may disconnect it before.
        _ = try? askUntilItIsNotRead(unread, limits)
        XCTAssertTrue(isGone("unread", "read nothing", server))
    }
}
