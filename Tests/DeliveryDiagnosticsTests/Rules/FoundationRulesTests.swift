import DeliveryRecording
import ThreadedNotifications
import XCTest

@testable import DeliveryDiagnostics

/// Rules about Foundation's own center.
final class FoundationRulesTests: XCTestCase {
    private func explanation(_ rule: String, _ happen: (inout RecordedStory) -> Void) throws -> String {
        let rule = try RuleParser.rule(argument: rule, option: "--rule")
        let result = RuleCheck([rule], RecordingIndex(RecordedStory.complete(happen))).results[0]
        return "\(result.holds ? "ok" : "FAILED"): \(result.explanation)"
    }

    func testHandlersRunOnMainOrOnAThread() throws {
        func story(_ thread: ThreadIdentity) -> (inout RecordedStory) -> Void {
            { story in
                story.addFoundationObserver(1)
                story.postToFoundation(1, to: [1], from: thread)
            }
        }
        XCTAssertEqual(try explanation("Done on main", story(RecordedStory.main)), "ok: 1 handler")
        XCTAssertEqual(
            try explanation("Done on main", story(RecordedStory.worker)), "FAILED: 1 of 1 handler ran on another thread"
        )
        XCTAssertEqual(try explanation("Done on thread worker", story(RecordedStory.worker)), "ok: 1 handler")
    }

    func testAPostLastsUntilItReturnsOrUntilTheEnd() throws {
        func story(_ isReturned: Bool) -> (inout RecordedStory) -> Void {
            { story in
                story.addFoundationObserver(1, queue: "main")
                story.beginFoundationPost(1, from: RecordedStory.worker)
                if isReturned {
                    story.runFoundationHandler(1, by: 1, on: RecordedStory.main, for: .milliseconds(6))
                    story.endFoundationPost(1, count: 1, from: RecordedStory.worker)
                }
                story.pass(.milliseconds(50))
            }
        }
        XCTAssertEqual(
            try explanation("no post longer than 10 ms", story(true)), "ok: 1 post, the longest 9 ms")
        XCTAssertEqual(
            try explanation("no post longer than 8 ms", story(true)), "FAILED: 1 of 1 post took longer, up to 9 ms")
        XCTAssertEqual(
            try explanation("no post longer than 10 ms", story(false)), "FAILED: 1 of 1 post took longer, up to 51 ms")
    }

    func testPostsAndObserversOfFoundationItselfNeedNoObserverAndNoRemoval() throws {
        func story(_ isCalledByFoundation: Bool) -> (inout RecordedStory) -> Void {
            let foundation = Recording.FoundationDetails(isCalledByFoundation: isCalledByFoundation)
            return { story in
                story.add(.register, "Own", observer: 1, foundation: foundation)
                story.add(.post, post: 1, foundation: foundation)
                story.endFoundationPost(1, count: 0)
                story.addFoundationObserver(2)
                story.postToFoundation(2, to: [2])
                story.removeFoundationObserver(2)
            }
        }
        XCTAssertEqual(try explanation("every post observed", story(true)), "ok: 1 post")
        XCTAssertEqual(try explanation("every post observed", story(false)), "FAILED: 1 of 2 posts had no observer")
        XCTAssertEqual(try explanation("no observer left at exit", story(true)), "ok: 1 observer")
        XCTAssertEqual(
            try explanation("no observer left at exit", story(false)), "FAILED: 1 of 2 observers was not removed")
        // The rule about a name is about its posts by anyone.
        XCTAssertEqual(try explanation("Done observed", story(true)), "FAILED: 1 of 2 posts had no observer")
    }

    func testAPostThatHasNotReturnedMayHaveAnObserver() throws {
        XCTAssertEqual(
            try explanation("every post observed") { story in
                story.addFoundationObserver(1, queue: "main")
                story.beginFoundationPost(1, from: RecordedStory.worker)
            }, "ok: 1 post")
    }
}
