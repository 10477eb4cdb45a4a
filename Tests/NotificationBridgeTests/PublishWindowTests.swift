internal import SharedTesting
internal import XCTest

@testable internal import NotificationBridge

final class PublishWindowTests: XCTestCase {
    /// The same, without thrift: all posts ever, by number.
    private struct Oracle {
        var posts: [(connection: Int, isDone: Bool)] = []
        var first = 0

        mutating func removeFinished(of connection: Int) -> Int {
            let start = first
            while first < posts.count, posts[first].isDone { first += 1 }
            return posts[start..<first].count { $0.connection == connection }
        }

        func unfinished(from number: Int) -> [UInt64] {
            (first..<posts.count).filter { $0 >= number && !posts[$0].isDone }.map { UInt64($0) }
        }
    }

    func testWhateverIsAcknowledgedInAnyOrderTwiceOrWronglyItRemovesWhatIsFinishedAtTheBeginning() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<TestRounds.rounds(200, stress: 20_000) {
            var (window, oracle, connection) = (PublishWindow(), Oracle(), 1)
            for _ in 0..<100 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0...2:
                    let isDone = random.once(in: 10)
                    window.append(
                        PublishWindow.Post(
                            subject: "\(oracle.posts.count)", message: [], connection: connection, isDone: isDone))
                    oracle.posts.append((connection, isDone))
                case 3...5:
                    // Also of posts that are gone, or never were.
                    let number = Int.random(in: max(0, oracle.first - 3)...oracle.posts.count + 2, using: &random)
                    let isKnown = oracle.posts.indices.contains(number) ? oracle.posts[number].isDone : true
                    XCTAssertEqual(window.finish(UInt64(number)), !isKnown)
                    if oracle.posts.indices.contains(number) { oracle.posts[number].isDone = true }
                case 6:
                    XCTAssertEqual(window.removeFinished(of: connection), oracle.removeFinished(of: connection))
                default: if random.once(in: 5) { connection += 1 }
                }
                XCTAssertEqual(window.first, UInt64(oracle.first))
                XCTAssertEqual(window.next, UInt64(oracle.posts.count))
                let from = Int.random(in: 0...oracle.posts.count + 2, using: &random)
                let unfinished = Array(window.unfinished(from: UInt64(from)))
                XCTAssertEqual(unfinished.map(\.number), oracle.unfinished(from: from))
                XCTAssert(unfinished.allSatisfy { $0.post.subject == "\($0.number)" })
            }
        }
    }
}
