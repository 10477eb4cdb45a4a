import Foundation
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// A handler may be the first to enqueue for a set of run loop modes.
final class PostingNewModesTests: XCTestCase {
    private let center = NotificationCenter()
    private let posted = Locked<[String]>([])

    private func observe(_ name: String, _ handle: @escaping @Sendable () -> Void = {}) {
        let posted = posted
        _ = center.addObserver(forName: Notification.Name(name), object: nil, queue: nil) { _ in
            posted.withLock { $0.append(name) }
            handle()
        }
    }

    func testANotificationForNewModesIsNotOvertakenByALaterOne() {
        let queue = PostingQueue(center: center)
        let newMode = RunLoop.Mode("PostingNewModesTests not overtaken")
        observe("first") {
            queue.enqueue("for new modes", forModes: [.default, newMode])
            queue.enqueue("for a known mode", forModes: [.default])
        }
        observe("for new modes")
        observe("for a known mode")
        queue.enqueue("first", forModes: [.default])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(posted.withLock { $0 }, ["first", "for new modes", "for a known mode"])
    }

    func testANotificationForNewModesInTheLastPassIsPostedBeforeTheRunLoopReturns() {
        let queue = PostingQueue(center: center)
        let newMode = RunLoop.Mode("PostingNewModesTests in the last pass")
        observe("first") { queue.enqueue("for new modes", forModes: [.default, newMode]) }
        observe("for new modes")
        // The run loop returns after it has handled the source.
        let source = RunLoopSource { queue.enqueue("first", forModes: [.default]) }
        source.add(to: .current, mode: .default)
        source.signal()
        _ = RunLoop.current.run(mode: .default, before: .distantPast)
        XCTAssertEqual(posted.withLock { $0 }, ["first", "for new modes"])
    }
}

extension PostingQueue {
    fileprivate func enqueue(_ name: String, forModes modes: [RunLoop.Mode]) {
        enqueue(Notification(name: Notification.Name(name)), postingStyle: .asap, forModes: modes)
    }
}
