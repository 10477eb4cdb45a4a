import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Posts of clients that are about to disconnect are delivered, and their memory is freed.
final class ServerRuleTests: XCTestCase {
    func testPostsOfAClientThatHasEndedAreDelivered() throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        let observer = try RawPeer(temporary.directory, name: "observer")
        try observer.register(1, name: "n")
        try observer.synchronize()
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

    func testTheIdleTimeoutBeginsWhenTheLastClientDisconnects() throws {
        let temporary = try FaultDirectory()
        var limits = ServerLimits()
        limits.idleTimeout = .milliseconds(200)
        let server = try ServerInThisProcess(temporary, limits: limits, endsWhenIdle: true)
        let leaving: SuspendingClock.Instant
        do {
            let peer = try RawPeer(temporary.directory)
            try peer.synchronize()
            // Longer than the limit, and nothing wakes the server meanwhile.
            XCTAssertFalse(server.wait(0.4) { $0.count > 2 })
            leaving = .now
        }
        XCTAssertTrue(server.wait { $0.contains { if case .stopping = $0 { true } else { false } } })
        // A lower bound, which a busy machine does not break.
        XCTAssertGreaterThanOrEqual(leaving.duration(to: .now), limits.idleTimeout)
        XCTAssertTrue(server.events.contains { if case .clientGone = $0 { true } else { false } })
    }

    func testObserversThatWereRemovedWhileTheBufferDropsAreNotInItsGap() throws {
        let queue = OutboundBuffer(limits: .init(soft: 100, softTimeout: 1, hard: 100, held: 0, progressTimeout: 1))
        XCTAssertTrue(queue.admits(100, now: 0))
        queue.append([UInt8](repeating: 0, count: 100), now: 0)
        for number in 0..<UInt32(1000) {
            XCTAssertFalse(queue.admits(1, now: 0))
            queue.miss([
                MatchingObserver(registration: number, behavior: .hold),
                MatchingObserver(registration: 5000, behavior: .hold),
            ])
            queue.unregister(number)
        }
        let missed = queue.wrote(100, now: 0)
        XCTAssertEqual(missed?.registrations, [5000: 1000])
        XCTAssertEqual(missed?.count, 1000)
        queue.append([1], now: 0)
        queue.unregister(5000)
        let none = queue.wrote(1, now: 0)
        XCTAssertNil(none)
    }
}
