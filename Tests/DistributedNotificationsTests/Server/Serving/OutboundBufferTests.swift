import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Times are drawn, not waited for. A time of 1 is a second.
final class OutboundBufferTests: XCTestCase {
    private static func second(_ seconds: Int) -> UInt64 { UInt64(seconds) * 1_000_000_000 }

    private static func buffer(soft: Int = 100, hard: Int = 1000, waiting: Int = 0) -> OutboundBuffer {
        var limits = ServerLimits()
        (limits.softQueueBytes, limits.hardQueueBytes, limits.heldBytesPerClient) = (soft, hard, 1000)
        var buffer = OutboundBuffer(limits)
        if waiting > 0 { buffer.append([UInt8](repeating: 7, count: waiting), now: 0) }
        return buffer
    }

    func testBytesBeyondTheSoftLimitAreAcceptedUntilTheTimeoutWhichRestartsBelowIt() {
        var buffer = Self.buffer(waiting: 150)
        var admitted = [0, 10].map { buffer.admits(1, now: Self.second($0)) }
        _ = buffer.wrote(60, now: Self.second(10))
        buffer.append([UInt8](repeating: 7, count: 60), now: Self.second(10))
        admitted += [11, 21, 22].map { buffer.admits(1, now: Self.second($0)) }
        XCTAssertEqual(admitted, [true, true, true, true, false])
    }

    func testBytesBeyondTheHardLimitAreDroppedUntilAllIsWrittenAndTheGapIsReturnedOnce() {
        var buffer = Self.buffer(waiting: 990)
        var admitted = [buffer.admits(10, now: 0), buffer.admits(11, now: 0), buffer.admits(1, now: 0)]
        let observers = [4, 9].map { MatchingObserver(registration: $0, behavior: .hold) }
        for _ in 0..<3 { buffer.miss(observers) }
        var gaps = [buffer.wrote(980, now: 1)]
        admitted.append(buffer.admits(1, now: 1))
        gaps.append(buffer.wrote(10, now: 2))
        admitted.append(buffer.admits(1, now: 2))
        buffer.append([1], now: 3)
        gaps.append(buffer.wrote(1, now: 3))
        XCTAssertEqual(admitted, [true, false, false, false, true])
        XCTAssertEqual(gaps, [nil, MissedPosts(count: 3, registrations: [4: 3, 9: 3]), nil])
    }

    func testAnObserverThatWasRemovedIsNotInTheGap() {
        var buffer = Self.buffer(waiting: 1000)
        for number in 0..<1000 as Range<UInt32> {
            buffer.miss([number, 5000].map { MatchingObserver(registration: $0, behavior: .hold) })
            buffer.unregister(number)
        }
        XCTAssertEqual(buffer.wrote(1000, now: 0), MissedPosts(count: 1000, registrations: [5000: 1000]))
    }

    func testHeldNotificationsAndAsMuchOfOthersHaveAdditionalRoomAndAFrameFitsIntoAnEmptyBuffer() {
        var buffer = Self.buffer(waiting: 1000)
        let admitted = [
            buffer.admits(500, isHeld: true, now: 0), buffer.admits(501, now: 0),
            buffer.admits(1, isHeld: true, now: 0),
        ]
        XCTAssertEqual(admitted, [true, false, false])
        var empty = Self.buffer()
        XCTAssertTrue(empty.admits(5000, now: 0))
    }

    func testItStallsAfterTheTimeoutWithoutProgress() {
        var buffer = Self.buffer()
        var times = [buffer.stallsAt]
        buffer.append([UInt8](repeating: 7, count: 10), now: 7)
        buffer.append([UInt8](repeating: 7, count: 10), now: 1000)
        for (count, now) in [(0, 2000), (15, 3000), (5, 4000)] as [(Int, UInt64)] {
            times.append(buffer.stallsAt)
            _ = buffer.wrote(count, now: now)
        }
        let expected = [nil, 7, 7, 3000, nil] as [UInt64?]
        XCTAssertEqual(times + [buffer.stallsAt], expected.map { $0.map { $0 + Self.second(30) } })
    }

    func testBytesAreWrittenInTheirOrderAndUpToTheHardLimitWait() {
        var random = SeededGenerator(seed: 11)
        for round in 0..<FaultRounds.comparisons {
            let hard = Int.random(in: 100...(random.once(in: 3) ? 1000 : 200_000), using: &random)
            var buffer = Self.buffer(hard: hard)
            var (expected, missed, written) = ([UInt8](), 0, UInt8(0))
            for _ in 0..<200 {
                if random.once(in: 3) {
                    guard buffer.withUnwritten({ $0.elementsEqual(expected) }) else {
                        return XCTFail("round \(round): other bytes")
                    }
                    let count = random.once(in: 2) ? expected.count : Int.random(in: 0...expected.count, using: &random)
                    expected.removeFirst(count)
                    let gap = buffer.wrote(count, now: 0)
                    XCTAssertEqual(gap?.count ?? 0, expected.isEmpty ? missed : 0)
                    if expected.isEmpty { missed = 0 }
                } else {
                    let count = Int.random(in: 1...(random.once(in: 10) ? 60_000 : 500), using: &random)
                    let fits = missed == 0 && (expected.isEmpty || expected.count + count <= max(hard, 100))
                    XCTAssertEqual(buffer.admits(count, now: 0), fits)
                    if fits {
                        written &+= 1
                        expected += [UInt8](repeating: written, count: count)
                        buffer.append([UInt8](repeating: written, count: count), now: 0)
                    } else {
                        missed += 1
                        buffer.miss([MatchingObserver(registration: 1, behavior: .hold)])
                    }
                }
                XCTAssertEqual(buffer.waiting, expected.count)
            }
        }
    }
}
