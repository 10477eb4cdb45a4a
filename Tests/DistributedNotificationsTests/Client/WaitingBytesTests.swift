import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

final class WaitingBytesTests: XCTestCase {
    /// The same rules, with a list of the reserved sizes.
    private struct Naive {
        var limit: Int
        var taken: [Int] = []
        var isFull = false
        var isReady = false

        var used: Int { taken.reduce(0, +) }
        var hasRoom: Bool { used <= limit / 2 }

        mutating func take(_ size: Int) -> Bool {
            if used + size <= limit || used == 0 {
                taken.append(size)
                return true
            }
            isFull = true
            if hasRoom { isReady = true }
            return false
        }

        mutating func giveBack(_ index: Int) {
            taken.remove(at: index)
            if isFull, hasRoom { isReady = true }
        }

        mutating func takeRoom() -> Bool {
            guard isFull, hasRoom else { return false }
            isFull = false
            return true
        }
    }

    private static func isReady(_ event: EventDescriptor) -> Bool {
        var descriptor = pollfd(fd: event.number, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) == 1
    }

    func testAnySequenceOfReservationsAndReleasesFollowsTheRules() throws {
        var random = SeededGenerator(seed: 31)
        var refusals = 0
        var rooms = 0
        for round in 0..<FaultRounds.comparisons {
            let event = try XCTUnwrap(EventDescriptor())
            let limit = Int.random(in: 0...(random.once(in: 2) ? 20 : 10_000), using: &random)
            let waiting = WaitingBytes(limit: limit, roomEvent: event)
            var naive = Naive(limit: limit)
            for step in 0..<200 {
                let directory = "round \(round), step \(step)"
                switch Int.random(in: 0..<8, using: &random) {
                case 0, 1, 2:
                    let size = Int.random(in: 1...max(limit / (random.once(in: 4) ? 1 : 8), 1) + 1, using: &random)
                    let isTaken = waiting.reserve(size)
                    try require(isTaken == naive.take(size), directory)
                    if !isTaken { refusals += 1 }
                case 3, 4, 5:
                    guard let index = naive.taken.indices.randomElement(using: &random) else { continue }
                    waiting.release(naive.taken[index])
                    naive.giveBack(index)
                case 6:
                    let isRoom = waiting.takeRoom()
                    try require(isRoom == naive.takeRoom(), directory)
                    if isRoom { rooms += 1 }
                default:
                    event.clear()
                    naive.isReady = false
                }
                try require(Self.isReady(event) == naive.isReady, directory)
            }
        }
        XCTAssertGreaterThan(refusals, 3 * FaultRounds.comparisons)
        XCTAssertGreaterThan(rooms, FaultRounds.comparisons)
    }

    func testANotificationReleasesItsBytesWithItsLastReference() throws {
        let waiting = WaitingBytes(limit: 10, roomEvent: try XCTUnwrap(EventDescriptor()))
        XCTAssertTrue(waiting.reserve(10))
        let notification = DistributedNotification(name: .init("n"), sender: 1)
        var holders = [InboundNotification](
            repeating: InboundNotification(notification, size: 10, of: waiting), count: 2)
        holders.removeLast()
        XCTAssertFalse(waiting.reserve(1))
        holders.removeLast()
        XCTAssertTrue(waiting.reserve(10))
    }
}
