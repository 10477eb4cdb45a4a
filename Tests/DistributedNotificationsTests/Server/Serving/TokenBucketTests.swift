import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

final class TokenBucketTests: XCTestCase {
    private static let second: UInt64 = 1_000_000_000

    func testItStartsFullAndNeverExceedsItsCapacity() {
        var bucket = TokenBucket(capacity: 100, perSecond: 10, now: 5)
        XCTAssertEqual(bucket.takeAll(now: 5), 100)
        XCTAssertEqual(bucket.takeAll(now: 5), 0)
        XCTAssertEqual(bucket.takeAll(now: 5 + 3600 * Self.second), 100)
    }

    func testPartsOfTokensAreNotLost() {
        var bucket = TokenBucket(capacity: 1000, perSecond: 3, now: 0)
        _ = bucket.takeAll(now: 0)
        var taken = 0
        // 7 ms is a fiftieth of a token.
        for step in 1...1_000_000 where step % 7 == 0 { taken += bucket.takeAll(now: UInt64(step) * 1_000_000) }
        XCTAssertTrue(taken == 2999 || taken == 3000)
    }

    func testTheTokensAreThereAtThePredictedTime() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            let capacity = Int.random(in: 1...1000, using: &random)
            let perSecond = Int.random(in: 1...2_000_000, using: &random)
            var now = UInt64.random(in: 0...Self.second << 20, using: &random)
            var bucket = TokenBucket(capacity: capacity, perSecond: perSecond, now: now)
            for _ in 0..<10 {
                let taken = Int.random(in: 0...bucket.takable(now: now), using: &random)
                bucket.take(taken)
                let wanted = Int.random(in: 1...capacity, using: &random)
                let time = bucket.time(of: wanted)
                if bucket.takable(now: now) < wanted { XCTAssertGreaterThan(time, now) }
                now = max(time, now)
                let available = bucket.takable(now: now)
                XCTAssertGreaterThanOrEqual(available, wanted, "\(available) of \(wanted), \(perSecond) per second")
            }
        }
    }

    func testAfterALongTimeOrWithTheLargestNumbersItIsFull() {
        var bucket = TokenBucket(capacity: .max, perSecond: .max, now: 0)
        bucket.take(.max)
        XCTAssertEqual(bucket.takeAll(now: .max), .max)
    }
}

extension TokenBucket {
    fileprivate mutating func takeAll(now: UInt64) -> Int {
        let count = available(now: now)
        take(count)
        return count
    }

    /// As `available`; a macro cannot call what mutates.
    fileprivate mutating func takable(now: UInt64) -> Int { available(now: now) }
}
