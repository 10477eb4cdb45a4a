import XCTest

@testable import DistributedNotifications
@testable import NotificationServer

/// Times are drawn, not waited for.
final class PacingTests: XCTestCase {
    /// Turns of one post each.
    /// - Returns: which of them ended with a nap.
    private static func naps(_ pacing: inout Pacing, posts: Int, every interval: UInt64, from time: UInt64) -> [Int] {
        (0..<posts).filter { pacing.turnEnded(posts: 1, now: time + UInt64($0) * interval) }
    }

    func testAfterSinglePostsTheServerDoesNotNap() {
        var pacing = Pacing()
        let naps = Self.naps(&pacing, posts: 10_000, every: 2 * Pacing.burstInterval, from: 5)
        XCTAssertEqual(naps, [])
    }

    func testInABurstTheServerNapsFromTheThirtyThirdPostOn() {
        var pacing = Pacing()
        let naps = Self.naps(&pacing, posts: 10_000, every: Pacing.burstInterval / 2, from: 5)
        XCTAssertEqual(naps, Array(Pacing.burstPosts..<10_000))
    }

    func testManyPostsInOneTurnAreABurst() {
        var pacing = Pacing()
        let few = pacing.turnEnded(posts: Pacing.burstPosts, now: 1)
        let many = pacing.turnEnded(posts: 1, now: 1)
        XCTAssertEqual([few, many], [false, true])
    }

    func testATurnWithoutPostsEndsABurst() {
        var pacing = Pacing()
        let before = Self.naps(&pacing, posts: 32, every: 1, from: 1)
        let between = pacing.turnEnded(posts: 0, now: 40)
        let after = Self.naps(&pacing, posts: 33, every: 1, from: 50)
        XCTAssertEqual(before, [])
        XCTAssertFalse(between)
        XCTAssertEqual(after, [32])
    }

    func testAnOldBurstDoesNotCount() {
        for posts in [33, 100, 128, 129, 100_000] {
            var pacing = Pacing()
            let burst = Self.naps(&pacing, posts: posts, every: 10, from: 1)
            XCTAssertEqual(burst.count, posts - 32)
            // However long it was, it is soon forgotten.
            let later = Self.naps(&pacing, posts: 10_000, every: 2 * Pacing.burstInterval, from: UInt64(posts) * 10 + 1)
            XCTAssertLessThanOrEqual(later.count, 4 * Pacing.burstPosts)
            XCTAssertEqual(later, Array(0..<later.count))
            var other = pacing
            let first = Self.naps(&pacing, posts: 1, every: 1, from: 1 << 50)
            let next = Self.naps(&other, posts: 33, every: 1, from: 1 << 50)
            XCTAssertEqual(first, [])
            XCTAssertLessThanOrEqual(next.count, 1)
        }
    }
}
