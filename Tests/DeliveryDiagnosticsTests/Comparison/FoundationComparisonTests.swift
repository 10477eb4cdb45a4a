import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Comparison of runs with Foundation's own center, which calls observers in random order.
final class FoundationComparisonTests: XCTestCase {
    /// A run with three observers. Each post is handled in one order; the handler of one observer posts another.
    private func run(_ orders: [Int]..., poster: Int = 2, on thread: ThreadIdentity = RecordedStory.main) -> Recording {
        RecordedStory.complete { story in
            for observer in 1...3 { story.addFoundationObserver(observer) }
            var post = 0
            for order in orders {
                post += 1
                let outer = post
                story.beginFoundationPost(outer)
                for observer in order {
                    story.add(.deliver, on: thread, nil, post: outer, observer: observer, foundation: .init())
                    if observer == poster {
                        post += 1
                        story.postToFoundation(post, from: thread, "Nested")
                    }
                    story.add(.return, on: thread, nil, post: outer, observer: observer, foundation: .init())
                }
                story.endFoundationPost(outer, count: order.count)
            }
        }
    }

    private func areTheSame(_ one: Recording, _ other: Recording) -> Bool {
        guard case .same = RunComparison(one, other).outcome else { return false }
        return true
    }

    func testTheOrderInWhichAPostCallsItsObserversIsChance() {
        XCTAssertTrue(areTheSame(run([1, 2, 3], [1, 2, 3]), run([3, 1, 2], [2, 3, 1])))
        XCTAssertTrue(
            areTheSame(run([1, 2, 3], on: RecordedStory.worker), run([2, 1, 3], on: RecordedStory.worker)))
    }

    func testAnObserverThatIsNotCalledOrThatDoesSomethingElseIsADifference() {
        XCTAssertFalse(areTheSame(run([1, 2, 3], [1, 2, 3]), run([1, 2, 3], [2, 3])))
        XCTAssertFalse(areTheSame(run([1, 2, 3]), run([1, 2, 3], poster: 1)))
        XCTAssertFalse(areTheSame(run([1, 2, 3]), run([1, 2, 3], on: RecordedStory.worker)))
    }
}
