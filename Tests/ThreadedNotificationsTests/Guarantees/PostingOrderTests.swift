import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in PostingOrderTests")

/// Guarantee 4: what one thread posts and performs is delivered in that order. `RandomProgramsTests` has it for several
/// threads, all policies, and handlers that run the run loop.
final class PostingOrderTests: XCTestCase {
    func testAPostOrBlockThatWaitsComesAfterWhatWaitsAndBeforeWhatTheHandlersPostMeanwhile() throws {
        for posts in [true, false] {
            let center = ThreadedNotificationCenter()
            let log = Locked<[String]>([])
            let token = center.addObserver(forName: posted, on: .main) { notification in
                let number = notification.object as? Int ?? 0
                log.withLock { $0.append("\(number)") }
                guard number == 1 else { return }
                center.post(name: posted, object: 3)
                do { try MainThread.main.perform { log.withLock { $0.append("performed") } } } catch {
                    XCTFail("\(error)")
                }
            }
            Thread.posting(1) { center.post(name: posted, object: 1) }.wait()
            if posts {
                let waiting = Notification(name: posted, object: 2)
                XCTAssertEqual(try center.postAndWait(waiting, timeout: TestTimeout.hang).delivered, 1)
            } else {
                try MainThread.main.performAndWait(timeout: TestTimeout.hang) { log.withLock { $0.append("2") } }
            }
            XCTAssertEqual(log.withLock { $0 }, ["1", "2"])
            RunLoop.runCurrentOnce()
            XCTAssertEqual(log.withLock { $0 }, ["1", "2", "3", "performed"])
            token.cancel()
        }
    }
}
