internal import SharedTesting
internal import XCTest

@testable internal import NotificationBridge

final class PublishWindowTests: XCTestCase {
    /// The same, without thrift: all posts ever, by number.
    private struct Oracle {
        var isFinished: [Bool] = []
        var first = 0

        mutating func removeFinished() -> Int {
            let start = first
            while first < isFinished.count, isFinished[first] { first += 1 }
            return first - start
        }
    }

    func testWhateverIsAcknowledgedInAnyOrderTwiceOrWronglyItRemovesWhatIsFinishedAtTheBeginning() {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<TestRounds.rounds(200, stress: 20_000) {
            var (window, oracle) = (PublishWindow(), Oracle())
            for _ in 0..<100 {
                switch Int.random(in: 0..<8, using: &random) {
                case 0...2:
                    window.append(PublishWindow.Post(subject: "\(oracle.isFinished.count)", message: []))
                    oracle.isFinished.append(false)
                case 3...5:
                    // Also of posts that are gone, or never were.
                    let number = Int.random(in: max(0, oracle.first - 3)...oracle.isFinished.count + 2, using: &random)
                    let isThere = number >= oracle.first && number < oracle.isFinished.count
                    XCTAssertEqual(window.finish(UInt64(number)), isThere && !oracle.isFinished[number])
                    if isThere { oracle.isFinished[number] = true }
                case 6: XCTAssertEqual(window.removeFinished(), oracle.removeFinished())
                default:
                    guard random.once(in: 5) else { continue }
                    window.removeAll()
                    oracle.first = oracle.isFinished.count
                }
                XCTAssertEqual(window.first, UInt64(oracle.first))
                XCTAssertEqual(window.next, UInt64(oracle.isFinished.count))
                XCTAssertEqual(window.count, oracle.isFinished.count - oracle.first)
                for number in window.first..<window.next {
                    XCTAssertEqual(window[number].isFinished, oracle.isFinished[Int(number)])
                    XCTAssertEqual(window[number].subject, "\(number)")
                }
            }
        }
    }
}
