import Foundation
import Scenarios
import ThreadedNotifications
import XCTest

@testable import PlatformExamination

/// The trials themselves: each can pass, and each can fail.
final class QueueTrialTests: XCTestCase {
    private func verdicts(on maker: any QueueMaker, turns: Int) throws -> [String: TrialVerdict] {
        var verdicts: [String: TrialVerdict] = [:]
        for promise in QueuePromise.all {
            let notes = TrialNotes { _ in }
            try MainActor.assumeIsolated { try QueueTrial.perform(promise, maker, notes: notes, turns: turns) }
            verdicts[promise.name] = promise.verdict(on: TrialObservation(events: notes.events))
        }
        return verdicts
    }

    func testPostingQueueKeepsEveryPromiseInOneProcess() throws {
        let verdicts = try verdicts(on: QueueKind.postingQueue, turns: 50)
        XCTAssertEqual(verdicts.count, QueuePromise.all.count)
        XCTAssertEqual(verdicts.filter { $0.value != .kept }, [:])
        XCTAssertNil(DeliveryEvent.tracer)
    }

    func testAQueueThatPostsNothingAndOneThatPostsAtOnceKeepNoPromiseInCommon() throws {
        let silent = try verdicts(on: WrongQueues.silent, turns: 2).filter { $0.value == .kept }
        let hasty = try verdicts(on: WrongQueues.hasty, turns: 2).filter { $0.value == .kept }
        XCTAssertEqual(Array(silent.keys), ["custom-mode-is-held-back"])
        XCTAssertEqual(Set(silent.keys).intersection(hasty.keys), [])
    }
}

/// Queues that post nothing, or everything at once.
private enum WrongQueues: QueueMaker {
    case silent
    case hasty

    func makeQueue(for center: NotificationCenter) -> any QueueUnderTest {
        WrongQueue(center: self == .hasty ? center : nil)
    }

    func defaultQueue() -> any QueueUnderTest { makeQueue(for: .default) }
}

private final class WrongQueue: QueueUnderTest {
    let center: NotificationCenter?

    init(center: NotificationCenter?) {
        self.center = center
    }

    func enqueue(
        _ notification: Notification, _ style: NotificationQueue.PostingStyle,
        mask: NotificationQueue.NotificationCoalescing, modes: [RunLoop.Mode]?
    ) {
        center?.post(notification)
    }

    func dequeue(matching notification: Notification, mask: NotificationQueue.NotificationCoalescing) {}

    var targetGone: Int? { nil }
    var object: AnyObject { self }
}
