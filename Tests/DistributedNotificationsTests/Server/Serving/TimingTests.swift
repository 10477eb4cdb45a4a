import SharedTesting
import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// The values that decide when something happens. Times are drawn, not waited for.
final class TimingTests: XCTestCase {
    // MARK: Pacing

    /// Turns of one post each.
    /// - Returns: which of them ended with a nap.
    private static func naps(_ pacing: inout Pacing, posts: Int, every interval: UInt64, from time: UInt64) -> [Int] {
        (0..<posts).filter { pacing.turnEnded(posts: 1, now: time + UInt64($0) * interval) }
    }

    func testTheServerNapsInABurstAndNotAfterSinglePosts() {
        for posts in [0, 33, 128, 129, 10_000] {
            var pacing = Pacing()
            let naps = Self.naps(&pacing, posts: posts, every: Pacing.burstInterval / 2, from: 5)
            XCTAssertEqual(naps, Array(min(posts, Pacing.burstPosts)..<posts))
            // However long the burst was, it is soon forgotten.
            let end = UInt64(posts + 1) * Pacing.burstInterval
            let later = Self.naps(&pacing, posts: 10_000, every: 2 * Pacing.burstInterval, from: end)
            XCTAssertLessThanOrEqual(later.count, 4 * Pacing.burstPosts)
            XCTAssertEqual(later, Array(0..<later.count))
        }
    }

    func testManyPostsInATurnAreABurstWhichATurnWithoutPostsEnds() {
        var pacing = Pacing()
        let naps = [Pacing.burstPosts, 1, 0, 1].map { pacing.turnEnded(posts: $0, now: 1) }
        XCTAssertEqual(naps, [false, true, false, false])
    }

    // MARK: TokenBucket

    private static func bucket(capacity: Int, perSecond: Int, now: UInt64) -> TokenBucket {
        var limits = ServerLimits()
        (limits.postsAtOnce, limits.postsPerSecond) = (capacity, perSecond)
        return TokenBucket(limits, now: now)
    }

    func testABucketStartsFullNeverExceedsItsCapacityAndLosesNoPartOfAToken() {
        var bucket = Self.bucket(capacity: 1000, perSecond: 3, now: 5)
        let taken = [0, 0, 3600].map { bucket.takeAll(now: 5 + $0 * 1_000_000_000) }
        XCTAssertEqual(taken, [1000, 0, 1000])
        // 7 ms are a fiftieth of a token.
        let start = 5 + 3600 * 1_000_000_000 as UInt64
        let parts = (1...142_857).reduce(0) { $0 + bucket.takeAll(now: start + UInt64($1) * 7_000_000) }
        XCTAssertTrue(parts == 2999 || parts == 3000, "\(parts)")
    }

    func testTheTokensAreThereAtThePredictedTime() {
        var random = SeededGenerator(seed: 3)
        for _ in 0..<2000 {
            let capacity = Int.random(in: 1...1000, using: &random)
            var now = UInt64.random(in: 0...1 << 50, using: &random)
            var bucket = Self.bucket(
                capacity: capacity, perSecond: Int.random(in: 1...2_000_000, using: &random), now: now)
            for _ in 0..<10 {
                let wanted = Int.random(in: 1...capacity, using: &random)
                now = max(bucket.time(of: wanted), now)
                let taken = bucket.takeAll(now: now)
                XCTAssertGreaterThanOrEqual(taken, wanted)
            }
        }
    }

    // MARK: Deadlines

    func testDeadlinesComeInTheirOrderAtTheirTimes() {
        var random = SeededGenerator(seed: 5)
        var (deadlines, times) = (Deadlines(), [Int: UInt64]())
        for now in 0..<5000 as Range<UInt64> {
            let client = Int.random(in: 0..<50, using: &random)
            if random.once(in: 3) {
                times[client] = nil
                deadlines.remove(client)
            } else {
                let time = now + UInt64.random(in: 0..<100, using: &random)
                times[client] = min(times[client] ?? .max, time)
                deadlines.note(time, for: client)
            }
            XCTAssertEqual(deadlines.first, times.values.min())
            while let due = deadlines.removeFirst(now: now) {
                guard let time = times.removeValue(forKey: due), time <= now else { return XCTFail("\(due) at \(now)") }
                XCTAssertLessThanOrEqual(time, times.values.min() ?? .max)
            }
            XCTAssertGreaterThan(times.values.min() ?? .max, now)
        }
    }
}

extension TokenBucket {
    fileprivate mutating func takeAll(now: UInt64) -> Int {
        fill(now: now)
        var count = 0
        while !isEmpty {
            take()
            count += 1
        }
        return count
    }
}
