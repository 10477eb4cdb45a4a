import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Nothing grows without a limit, and each notification that is lost at a limit is counted.
final class QueueLimitTests: XCTestCase {
    private let temporary: TemporaryDirectory! = try? TemporaryDirectory()

    /// Notifications and gaps that a center delivers.
    private func observe(
        _ center: DistributedCenter, on thread: any DeliveryTarget, _ each: @escaping @Sendable () -> Void = {}
    ) throws -> (Awaited<Tally>, [ObserverToken]) {
        let seen = Awaited(Tally())
        let events = center.addConnectionObserver(on: thread) { event in
            if case .gap(let gap) = event { seen.withLock { $0.seeGap(gap.count) } }
        }
        let observer = try center.addObserver(forName: .numbered, suspensionBehavior: .hold, on: thread) {
            let number = $0.object.flatMap { Int($0) } ?? -1
            seen.withLock { $0.see(number) }
            each()
        }
        try center.synchronize(timeout: TestTimeout.hang)
        return (seen, [events, observer])
    }

    /// Posts `n` with increasing numbers as objects, which a center can read, and of 200 bytes.
    private func post(_ numbers: Range<Int>, over peer: RawPeer) throws {
        for number in numbers {
            let object = String(repeating: "0", count: 150 - "\(number)".count) + "\(number)"
            let frame = try OutgoingFrame(
                postOf: "n", object: object, userInfo: nil, deliverImmediately: false, record: 0)
            try peer.write(frame.bytes)
        }
        try peer.synchronize()
    }

    func testTheServerDoesNotGrowForAClientThatReadsNothingWhichThenReceivesAnExactGap() throws {
        let server = try temporary.startServer()
        let center = try DistributedCenter(directory: temporary.directory, postTimeout: TestTimeout.hang)
        let (gate, isBlocked) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        // While its handler waits, the center reads nothing.
        let (seen, tokens) = try observe(center, on: TargetThread.postingThread) {
            isBlocked.signal()
            gate.wait()
        }
        let poster = try RawPeer(temporary.directory, name: "poster")
        let healthy = try RawPeer(temporary.directory, name: "healthy", observing: "n")
        let posts = TestRounds.rounds(12_000, stress: 100_000)
        var (largest, before, others) = (0, 0, 0)
        for first in stride(from: 0, to: posts, by: 1000) {
            try post(first..<first + 1000, over: poster)
            others += try healthy.synchronize().count
            // The memory of an idle server is not counted.
            if first == 0 { before = server.residentBytes }
            largest = max(largest, server.residentBytes)
        }
        XCTAssertEqual(isBlocked.wait(timeout: .now() + TestTimeout.seconds), .success)
        XCTAssertEqual(others, posts)
        XCTAssertLessThan(largest - before, 8 << 20)
        for _ in 0..<posts { gate.signal() }
        XCTAssertTrue(seen.wait { $0.received + $0.gap >= posts }, "\(seen.withLock { $0 })")
        try post(posts..<posts + 1, over: poster)
        gate.signal()
        XCTAssertTrue(seen.wait { $0.last == posts })
        let tally = seen.withLock { $0 }
        XCTAssertEqual(tally.received + tally.gap, posts + 1)
        XCTAssertEqual(tally.gaps, 1)
        XCTAssertTrue(tally.isInOrder)
        XCTAssertGreaterThan(tally.gap, posts / 10)
        withExtendedLifetime(tokens) {}
    }

    func testNotificationsHeldForAClientAreBoundedAndTheGapIsExact() throws {
        let server = try ServerInThisProcess(temporary)
        let poster = try RawPeer(temporary.directory, name: "poster")
        for (posts, byteCount) in [(1024, 8), (3000, 8), (500, 10_000)] {
            let suspended = try RawPeer(temporary.directory, name: "suspended", suspended: true, observing: "n")
            try poster.post("n", numbers: 0..<posts, byteCount: byteCount)
            try poster.synchronize()
            let client = try temporary.client("suspended")
            XCTAssertLessThanOrEqual(client.heldEntries, 1024)
            XCTAssertLessThanOrEqual(client.heldBytes, 1 << 20)
            XCTAssertGreaterThan(client.heldBytes, 64 << 10)
            XCTAssertEqual(client.discarded, posts - client.heldEntries)
            try suspended.setSuspended(false)
            var tally = Tally()
            try tally.see(try suspended.synchronize())
            XCTAssertEqual([tally.received, tally.gap, tally.last], [client.heldEntries, client.discarded, posts - 1])
            XCTAssertEqual(tally.gaps, client.discarded == 0 ? 0 : 1)
            XCTAssertTrue(tally.isInOrder)
        }
        withExtendedLifetime(server) {}
    }

    func testGapsForAClientThatReadsNothingAreBoundedAndAddUp() throws {
        let server = try ServerInThisProcess(temporary) {
            ($0.heldEntriesPerClient, $0.softQueueBytes, $0.hardQueueBytes, $0.heldBytesPerClient) = (0, 100, 100, 100)
        }
        let suspended = try RawPeer(temporary.directory, name: "suspended", suspended: true, observing: "n")
        let poster = try RawPeer(temporary.directory, name: "poster")
        let rounds = 2000
        for number in 0..<rounds {
            try poster.post("n", numbers: number..<number + 1, byteCount: 8)
            try poster.synchronize()
            for flag in [false, true] { try suspended.setSuspended(flag) }
        }
        XCTAssertTrue(try eventually { try temporary.client("suspended").waitingBytes > 0 })
        XCTAssertLessThanOrEqual(try temporary.client("suspended").waitingBytes, 300)
        try suspended.setSuspended(false)
        var tally = Tally()
        // The last gap is sent when all before it has been read.
        for _ in 0..<2 { try tally.see(try suspended.synchronize()) }
        XCTAssertEqual(tally.received + tally.gap, rounds)
        withExtendedLifetime(server) {}
    }

    func testNotificationsHeldForAllClientsAreBounded() throws {
        let server = try temporary.startServer()
        let poster = try RawPeer(temporary.directory, name: "poster")
        // 80 of them may hold 1 MiB each, and all of them 64 MiB.
        let suspended = try (0..<80).map { index in
            try RawPeer(temporary.directory, suspended: true, observing: "n\(index)")
        }
        let before = server.residentBytes
        for index in suspended.indices { try poster.post("n\(index)", numbers: 0..<20, byteCount: 50_000) }
        try poster.synchronize()
        let status = try temporary.status()
        XCTAssertLessThanOrEqual(status.heldBytes, 64 << 20)
        XCTAssertGreaterThan(status.heldBytes, 60 << 20)
        XCTAssertLessThan(server.residentBytes - before, 80 << 20)
        for peer in suspended {
            try peer.setSuspended(false)
            var tally = Tally()
            try tally.see(try peer.synchronize())
            XCTAssertEqual(tally.received + tally.gap, 20)
            XCTAssertTrue(tally.isInOrder)
        }
        XCTAssertEqual(try temporary.status().heldBytes, 0)
    }

    func testAnImmediatePostFollowsAllThatIsHeldAlsoIfThatFillsTheBuffer() throws {
        let server = try ServerInThisProcess(temporary) { ($0.softQueueBytes, $0.hardQueueBytes) = (1000, 500_000) }
        let suspended = try RawPeer(temporary.directory, name: "suspended", suspended: true, observing: "n")
        let poster = try RawPeer(temporary.directory, name: "poster")
        try poster.post("n", numbers: 0..<10, byteCount: 50_000)
        try poster.write(RawPeer.post("n", number: 10, byteCount: 50_000, immediately: true))
        try poster.synchronize()
        var tally = Tally()
        try tally.see(try suspended.synchronize())
        XCTAssertEqual(tally, Tally(all: 11))
        withExtendedLifetime(server) {}
    }
}
