import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Times are drawn, not waited for.
final class OutboundBufferTests: XCTestCase {
    private static let second: UInt64 = 1_000_000_000

    private static func queue(soft: Int = 100, softSeconds: UInt64 = 10, hard: Int = 1000, held: Int = 1000)
        -> OutboundBuffer
    {
        OutboundBuffer(
            limits: OutboundBuffer.Limits(
                soft: soft, softTimeout: softSeconds * second, hard: hard, held: held,
                progressTimeout: 30 * second))
    }

    private static func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }

    func testBytesBeyondTheSoftLimitAreAcceptedUntilTheTimeout() {
        let queue = Self.queue()
        queue.append(Self.bytes(100), now: 0)
        let early = queue.admits(1, now: 5 * Self.second)
        let atItsTime = queue.admits(1, now: 15 * Self.second)
        let late = queue.admits(1, now: 15 * Self.second + 1)
        XCTAssertEqual([early, atItsTime, late], [true, true, false])
        let drops = queue.isDropping
        XCTAssertTrue(drops)
    }

    func testTheSoftTimeoutRestartsBelowTheSoftLimit() {
        let queue = Self.queue()
        queue.append(Self.bytes(150), now: 0)
        _ = queue.admits(1, now: 0)
        _ = queue.wrote(60, now: 9 * Self.second)
        queue.append(Self.bytes(60), now: 9 * Self.second)
        let first = queue.admits(1, now: 11 * Self.second)
        let second = queue.admits(1, now: 21 * Self.second)
        let third = queue.admits(1, now: 22 * Self.second)
        XCTAssertEqual([first, second, third], [true, true, false])
    }

    func testBytesBeyondTheHardLimitAreDroppedImmediately() {
        let queue = Self.queue()
        queue.append(Self.bytes(990), now: 0)
        let fits = queue.admits(10, now: 0)
        let isTooMuch = queue.admits(11, now: 0)
        XCTAssertTrue(fits)
        XCTAssertFalse(isTooMuch)
    }

    func testItDropsUntilAllIsWrittenAndThenReturnsTheGapOnce() {
        let queue = Self.queue()
        queue.append(Self.bytes(1000), now: 0)
        let observers = [
            MatchingObserver(registration: 4, behavior: .hold), MatchingObserver(registration: 9, behavior: .drop),
        ]
        for _ in 0..<3 {
            let admitted = queue.admits(1, now: 0)
            XCTAssertFalse(admitted)
            queue.miss(observers)
        }
        let missed = queue.missedCount
        XCTAssertEqual(missed, 3)
        let early = queue.wrote(999, now: 1)
        let stillDrops = !queue.admits(1, now: 1)
        let gap = queue.wrote(1, now: 2)
        let takesAgain = queue.admits(1, now: 2)
        XCTAssertNil(early)
        XCTAssertTrue(stillDrops)
        XCTAssertEqual(gap, MissedPosts(count: 3, registrations: [4: 3, 9: 3]))
        XCTAssertTrue(takesAgain)
        let isForgotten = queue.missedCount == 0
        XCTAssertTrue(isForgotten)
        queue.append(Self.bytes(1), now: 3)
        let again = queue.wrote(1, now: 3)
        XCTAssertNil(again)
    }

    func testHeldNotificationsHaveAdditionalRoomUnlessItDrops() {
        let queue = Self.queue()
        queue.append(Self.bytes(1000), now: 0)
        let held = queue.admits(500, isHeld: true, now: 0)
        let live = queue.admits(1, now: 0)
        let heldLater = queue.admits(1, isHeld: true, now: 0)
        XCTAssertEqual([held, live, heldLater], [true, false, false])
    }

    func testItStallsAfterTheTimeoutWithoutProgress() {
        let queue = Self.queue()
        var times: [UInt64?] = []
        times.append(queue.stallsAt)
        queue.append(Self.bytes(10), now: 7)
        queue.append(Self.bytes(10), now: 1000)
        times.append(queue.stallsAt)
        _ = queue.wrote(0, now: 2000)
        times.append(queue.stallsAt)
        _ = queue.wrote(15, now: 3000)
        times.append(queue.stallsAt)
        _ = queue.wrote(5, now: 4000)
        times.append(queue.stallsAt)
        let first = 7 + 30 * Self.second
        XCTAssertEqual(times, [nil, first, first, 3000 + 30 * Self.second, nil])
    }

    func testItAgreesWithTheModelForRandomOperations() {
        var random = SeededGenerator(seed: 11)
        var gaps = 0
        for round in 0..<FaultRounds.comparisons {
            let soft = Int.random(in: 1...2000, using: &random)
            let limits = OutboundBuffer.Limits(
                soft: soft, softTimeout: 10,
                hard: soft + Int.random(in: 0...(random.once(in: 3) ? 1000 : 200_000), using: &random), held: 2000,
                progressTimeout: 30)
            let queue = OutboundBuffer(limits: limits)
            var naive = NaiveOutboundBuffer(limits: limits)
            var now: UInt64 = 0
            var written: UInt8 = 0
            for _ in 0..<200 {
                now += UInt64.random(in: 0...2, using: &random)
                if random.once(in: 3) {
                    let unwritten = Array(queue.unwritten)
                    guard unwritten == naive.bytes else {
                        XCTFail("round \(round): other bytes")
                        return
                    }
                    let count =
                        random.once(in: 2) ? unwritten.count : Int.random(in: 0...unwritten.count, using: &random)
                    let gap = queue.wrote(count, now: now)
                    let expected = naive.wrote(count, now: now)
                    if expected != nil { gaps += 1 }
                    XCTAssertEqual(gap?.count, expected?.count)
                    let counts = Dictionary((expected ?? []).joined().map { ($0, 1) }) { $0 + $1 }
                    XCTAssertEqual(gap?.registrations ?? [:], counts)
                } else {
                    let large = random.once(in: 10) ? 60_000 : 500
                    let count = Int.random(in: 1...large, using: &random)
                    let isHeld = random.once(in: 6)
                    let admitted = queue.admits(count, isHeld: isHeld, now: now)
                    XCTAssertEqual(admitted, naive.admits(count, isHeld: isHeld, now: now))
                    if admitted {
                        written &+= 1
                        let bytes = [UInt8](repeating: written, count: count)
                        queue.append(bytes, now: now)
                        naive.append(bytes, now: now)
                    } else {
                        let registrations = (1...UInt32.random(in: 1...3, using: &random)).map { $0 }
                        queue.miss(registrations.map { MatchingObserver(registration: $0, behavior: .hold) })
                        naive.missed.append(registrations)
                    }
                }
                let figures = [queue.waiting, queue.isDropping ? 1 : 0, queue.missedCount]
                XCTAssertEqual(figures, [naive.bytes.count, naive.isDropping ? 1 : 0, naive.missed.count])
                let stallsAt = queue.stallsAt
                XCTAssertEqual(stallsAt, naive.stallsAt)
            }
        }
        XCTAssertGreaterThan(gaps, FaultRounds.comparisons / 3)
    }

    func testAnEmptyBufferAcceptsAFrameLargerThanTheHardLimit() {
        let queue = Self.queue(soft: 10, hard: 20)
        let alone = queue.admits(21, now: 0)
        queue.append(Self.bytes(21), now: 0)
        let more = queue.admits(1, now: 0)
        XCTAssertEqual([alone, more], [true, false])
    }
}
