import Foundation
import ThreadedNotifications
import XCTest

@testable import PlatformExamination

/// The trials of notification queues: each can pass, and each can fail.
final class TrialTests: XCTestCase {
    private func kept(
        _ side: Question.Side, _ makeQueue: QueueUnderTest.Maker? = nil, passes: Int = 50
    ) throws -> Set<String> {
        let kept = try Question.queues.filter { question in
            let events = try MainActor.assumeIsolated {
                try Trial(side, makeQueue: makeQueue, passes: passes).perform(question)
            }
            return question.answer(of: side, events: events).isKept
        }
        return Set(kept.map(\.name))
    }

    func testPostingQueueKeepsEveryPromiseInOneProcess() throws {
        XCTAssertEqual(try kept(.ours), Set(Question.queues.map(\.name)))
        XCTAssertNil(DeliveryEvent.tracer)
    }

    func testAQueueThatPostsNothingAndOneThatPostsAtOnceKeepNoPromiseInCommon() throws {
        @Sendable func queue(_ enqueue: @escaping (Notification) -> Void) -> QueueUnderTest {
            QueueUnderTest(
                object: NSObject(), enqueue: { notification, _, _, _ in enqueue(notification) }, dequeue: { _, _ in })
        }
        let silent = try kept(.foundation, { _ in queue { _ in } }, passes: 2)
        let hasty = try kept(.foundation, { center in queue { (center ?? .default).post($0) } }, passes: 2)
        XCTAssertEqual(silent, ["custom-mode-is-held-back"])
        XCTAssertEqual(silent.intersection(hasty), [])
    }
}
