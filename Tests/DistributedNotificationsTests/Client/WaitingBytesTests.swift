import Foundation
import Glibc
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DistributedNotifications

final class WaitingBytesTests: XCTestCase {
    private static func isReady(_ event: EventDescriptor) -> Bool {
        var descriptor = pollfd(fd: event.number, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) == 1
    }

    /// The same rules, with a list of the reserved sizes.
    func testAnySequenceOfReservationsAndReleasesFollowsTheRules() throws {
        var random = SeededGenerator(seed: 31)
        var (refusals, rooms) = (0, 0)
        for _ in 0..<FaultRounds.comparisons {
            let event = try XCTUnwrap(EventDescriptor())
            let limit = Int.random(in: 0...(random.once(in: 2) ? 20 : 10_000), using: &random)
            let waiting = WaitingBytes(limit: limit, roomEvent: event)
            var (taken, isFull, isReady): ([Int], Bool, Bool) = ([], false, false)
            var used: Int { taken.reduce(0, +) }
            for _ in 0..<200 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0, 1, 2:
                    let size = Int.random(in: 1...max(limit / (random.once(in: 4) ? 1 : 8), 1) + 1, using: &random)
                    let fits = used + size <= limit || used == 0
                    try require(waiting.reserve(size) == fits)
                    if fits {
                        taken.append(size)
                    } else {
                        (isFull, refusals) = (true, refusals + 1)
                        isReady = isReady || used <= limit / 2
                    }
                case 3, 4, 5:
                    guard let index = taken.indices.randomElement(using: &random) else { continue }
                    waiting.release(taken.remove(at: index))
                    isReady = isReady || isFull && used <= limit / 2
                case 6:
                    let hasRoom = isFull && used <= limit / 2
                    try require(waiting.takeRoom() == hasRoom)
                    if hasRoom { (isFull, rooms) = (false, rooms + 1) }
                default:
                    event.clear()
                    isReady = false
                }
                try require(Self.isReady(event) == isReady)
            }
        }
        XCTAssertTrue(refusals > 3 * FaultRounds.comparisons && rooms > FaultRounds.comparisons)
    }

    func testANotificationReleasesItsBytesWithItsLastReference() throws {
        let waiting = WaitingBytes(limit: 10, roomEvent: try XCTUnwrap(EventDescriptor()))
        XCTAssertTrue(waiting.reserve(10))
        let value = PayloadValue(1, named: Notification.Name("any"), size: 10, of: waiting)
        var holders = Array(repeating: consume value, count: 2)
        holders.removeLast()
        XCTAssertFalse(waiting.reserve(1))
        holders.removeLast()
        XCTAssertTrue(waiting.reserve(10))
    }
}
