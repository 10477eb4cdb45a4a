import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in NewObserverTests")

/// Guarantee 7: an observer gets nothing that was posted before it was added.
final class NewObserverTests: XCTestCase {
    func testANewObserverNeverGetsOlderNotifications() {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[Int?]>([])
        func postElsewhere(_ number: Int) { Thread.posting(1) { center.post(name: posted, object: number) }.wait() }
        postElsewhere(1)
        let old = center.addObserver(forName: posted, on: .current) { _ in }
        postElsewhere(2)
        let new = center.addObserver(forName: posted, on: .current) { post in
            handled.withLock { $0.append(post.object as? Int) }
        }
        postElsewhere(3)
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, [3])
        XCTAssertEqual([old, new].map(\.counters), [.init(delivered: 2), .init(delivered: 1)])
    }
}
