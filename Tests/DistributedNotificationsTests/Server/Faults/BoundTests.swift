import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Nothing grows without a limit, and each notification that is lost at a limit is counted.
final class BoundTests: XCTestCase {
    func testAServerDoesNotGrowWhileAnObserverIsStoppedAndTheGapIsExact() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        let stopped = try RawPeer(temporary.directory, name: "stopped")
        try stopped.register(9, name: "n")
        try stopped.synchronize()
        let healthy = try RawPeer(temporary.directory, name: "healthy", observing: "n")
        let poster = try RawPeer(temporary.directory, name: "poster")
        var seen = Tally()
        // The memory of an idle server is not counted.
        try poster.post("n", numbers: 0..<1000)
        try poster.synchronize()
        for received in try healthy.synchronize() { try seen.add(received) }
        let before = server.residentBytes
        var largest = 0
        let posts = FaultRounds.postsToAStoppedObserver
        for first in stride(from: 1000, to: posts, by: 2000) {
            try poster.post("n", numbers: first..<min(first + 2000, posts))
            try poster.synchronize()
            for received in try healthy.synchronize() { try seen.add(received) }
            largest = max(largest, server.residentBytes)
        }
        XCTAssertLessThan(largest - before, 8 << 20, "it grew by \((largest - before) >> 10) KiB")
        if FaultRounds.isStress { print("after \(posts) posts: grown by \((largest - before) >> 10) KiB") }
        XCTAssertEqual(seen, Tally(all: posts))
        // Now it reads.
        var tally = Tally()
        for received in try stopped.synchronize() { try tally.add(received) }
        try poster.post("n", numbers: posts..<posts + 1)
        try poster.synchronize()
        for received in try stopped.synchronize() { try tally.add(received) }
        XCTAssertEqual(tally.received + tally.gap, posts + 1)
        XCTAssertEqual(tally.gaps, 1)
        XCTAssertEqual(tally.last, posts)
        XCTAssertTrue(tally.isInOrder)
        XCTAssertGreaterThan(tally.gap, posts / 2)
    }

    func testAnIdleServerUsesNoProcessorTimeAndLittleMemory() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        let observers = try (0..<10).map { try RawPeer(temporary.directory, name: "observer \($0)") }
        for observer in observers {
            try observer.register(1, name: "n")
            try observer.synchronize()
        }
        XCTAssertTrue(eventually { server.isSleeping })
        let before = (switches: try XCTUnwrap(server.switches), ticks: try XCTUnwrap(server.ticks))
        try RawPeer.roundTrips(2000)
        // Its own time limits may wake it, and not for long.
        XCTAssertLessThan(try XCTUnwrap(server.switches) - before.switches, 100)
        XCTAssertLessThanOrEqual(try XCTUnwrap(server.ticks) - before.ticks, 1)
        // Its own memory; what is mapped of this program and its libraries is much, and shared with those that run it.
        XCTAssertLessThan(server.ownBytes, 8 << 20)
        XCTAssertLessThan(server.residentBytes, 32 << 20)
        if FaultRounds.isStress { print("idle: \(server.residentBytes >> 10) KiB, its own \(server.ownBytes >> 10)") }
        withExtendedLifetime(observers) {}
    }

    func testHeldNotificationsOfAClientAreBoundedAndTheGapIsExact() throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        let poster = try RawPeer(temporary.directory, name: "poster")
        for (posts, byteCount) in [(1024, 8), (3000, 8), (500, 10_000)] {
            let suspended = try RawPeer(temporary.directory, name: "suspended", suspended: true, observing: "n")
            try poster.post("n", numbers: 0..<posts, byteCount: byteCount)
            try poster.synchronize()
            let client = try XCTUnwrap(try temporary.status().clients.first { $0.name == "suspended" })
            XCTAssertLessThanOrEqual(client.heldEntries, 1024)
            XCTAssertLessThanOrEqual(client.heldBytes, 1 << 20)
            XCTAssertGreaterThan(client.heldBytes, 64 << 10)
            XCTAssertEqual(client.discarded, posts - client.heldEntries)
            XCTAssertEqual(try suspended.synchronize(), [])
            try suspended.setSuspended(false)
            let received = try suspended.synchronize()
            var tally = Tally()
            for one in received { try tally.add(one) }
            XCTAssertEqual(tally.received, client.heldEntries)
            XCTAssertEqual(tally.gap, posts - client.heldEntries)
            XCTAssertEqual(tally.gaps, client.discarded == 0 ? 0 : 1)
            XCTAssertTrue(tally.isInOrder)
            XCTAssertEqual(tally.last, posts - 1)
            if case .frame(.gap, let payload)? = received.first {
                let gap = RawPeer.Gap(cause: .held, count: tally.gap, registrations: [1: tally.gap])
                XCTAssertEqual(try RawPeer.gap(payload), gap)
            } else {
                XCTAssertEqual(tally.gap, 0, "the gap is not the first")
            }
        }
        withExtendedLifetime(server) {}
    }

    func testHeldNotificationsOfAllClientsAreBounded() throws {
        let temporary = try FaultDirectory()
        let server = try temporary.startServer()
        let poster = try RawPeer(temporary.directory, name: "poster")
        // 100 of them may hold 1 MiB each, and all of them 64 MiB.
        let suspended = try (0..<100).map { index in
            let peer = try RawPeer(temporary.directory, name: "suspended \(index)", suspended: true)
            try peer.register(1, name: "n\(index)")
            try peer.synchronize()
            return peer
        }
        let before = server.residentBytes
        for index in 0..<100 { try poster.post("n\(index)", numbers: 0..<20, byteCount: 50_000) }
        try poster.synchronize()
        let status = try temporary.status()
        XCTAssertLessThanOrEqual(status.heldBytes, 64 << 20)
        XCTAssertGreaterThan(status.heldBytes, 60 << 20)
        XCTAssertEqual(status.clients.reduce(0) { $0 + $1.heldBytes }, status.heldBytes)
        XCTAssertLessThan(server.residentBytes - before, 80 << 20)
        var received = 0
        var gap = 0
        for peer in suspended {
            try peer.setSuspended(false)
            var tally = Tally()
            for one in try peer.synchronize() { try tally.add(one) }
            XCTAssertEqual(tally.received + tally.gap, 20)
            XCTAssertTrue(tally.isInOrder)
            received += tally.received
            gap += tally.gap
        }
        XCTAssertGreaterThan(received, 1200)
        XCTAssertGreaterThan(gap, 600)
        XCTAssertEqual(try temporary.status().heldBytes, 0)
    }

    func testHeldNotificationsDeliveredToAStoppedClientAreBounded() throws {
        let temporary = try FaultDirectory()
        var limits = ServerLimits()
        limits.heldOverflow = .deliver
        let server = try ServerInThisProcess(temporary, limits: limits)
        let stopped = try RawPeer(temporary.directory, name: "stopped", suspended: true, observing: "n")
        let poster = try RawPeer(temporary.directory, name: "poster")
        let posts = 2000
        var largest = 0
        for first in stride(from: 0, to: posts, by: 100) {
            try poster.post("n", numbers: first..<first + 100, byteCount: 10_000)
            try poster.synchronize()
            largest = max(largest, try temporary.status().clients.first { $0.name == "stopped" }?.waitingBytes ?? 0)
        }
        XCTAssertLessThan(largest, 4 << 20)
        try stopped.setSuspended(false)
        var tally = Tally()
        for one in try stopped.synchronize() { try tally.add(one) }
        // Notifications that were held may arrive while the buffer still drops.
        for one in try stopped.synchronize() { try tally.add(one) }
        XCTAssertEqual(tally.received + tally.gap, posts)
        XCTAssertTrue(tally.isInOrder)
        withExtendedLifetime(server) {}
    }

    /// XCTest runs this on the main thread.
    func testNotificationsThatWaitForTheMainRunLoopAreBoundedAndTheGapIsExact() throws {
        let temporary = try FaultDirectory()
        let server = try ServerInThisProcess(temporary)
        var limits = ClientLimits()
        limits.waitingBytes = 100_000
        let center = try DistributedCenter(directory: temporary.directory, limits: limits)
        let seen = Locked(Tally())
        let id = Locked<UInt64>(0)
        let connection = center.addConnectionObserver { event in
            guard case .gap(let gap) = event else { return }
            XCTAssertEqual(gap.cause, .waiting)
            seen.withLock {
                $0.gap += gap.count
                $0.gaps += 1
                XCTAssertEqual(gap.observers, [id.withLock { $0 }: gap.count])
            }
        }
        let observer = try center.addObserver(forName: .numbered, suspensionBehavior: .hold) { notification in
            seen.withLock {
                let number = notification.object.flatMap { Int($0) } ?? -1
                if number <= $0.last { $0.isInOrder = false }
                $0.last = number
                $0.received += 1
            }
        }
        id.withLock { $0 = observer.id }
        try center.synchronize(timeout: TestTimeout.hang)
        let poster = try DistributedCenter(directory: temporary.directory, limits: .patient)
        for round in 1...3 {
            let posts = round * 5000
            for number in posts - 5000..<posts {
                try poster.post(
                    name: .numbered, object: "\(number)", userInfo: ["filler": .data(Data(count: 100))])
            }
            try poster.synchronize(timeout: TestTimeout.hang)
            try center.synchronize(timeout: TestTimeout.hang)
            XCTAssertEqual(seen.withLock { $0.received + $0.gap }, posts - 5000, "it was delivered on another thread")
            RunLoop.main.run(until: .now + TestTimeout.hang) { seen.withLock { $0.received + $0.gap } >= posts }
            let tally = seen.withLock { $0 }
            XCTAssertEqual(tally.received + tally.gap, posts)
            XCTAssertTrue(tally.isInOrder)
            XCTAssertEqual(tally.gaps, round)
            // Of 5000, with at least 100 bytes each, 1000 at most may wait.
            XCTAssertLessThanOrEqual(tally.received, round * 1000)
            XCTAssertGreaterThan(tally.received, round * 100)
        }
        withExtendedLifetime((connection, observer, server)) {}
    }
}
