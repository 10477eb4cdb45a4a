import Foundation
import NotificationCompatibility
import XCTest

// This module imports Foundation, too, so this line decides which queue the name means.
typealias NotificationQueue = NotificationCompatibility.NotificationQueue

final class NotificationQueueTests: XCTestCase {
    private let name = Notification.Name("saved")

    func testTheNameMeansThePackagesQueueInAModuleThatImportsFoundationToo() {
        let center = NotificationCenter()
        let queue: NotificationQueue = NotificationQueue(notificationCenter: center)
        let objects = Log()
        let token = center.addObserver(forName: name, object: nil, queue: nil) {
            objects.write("\($0.object as? String ?? "-")")
        }
        let style: NotificationQueue.PostingStyle = .asap
        for object in ["first", "second", "third"] {
            queue.enqueue(Notification(name: name, object: object), postingStyle: style)
        }
        let mask: NotificationQueue.NotificationCoalescing = [.onSender]
        queue.dequeueNotifications(
            matching: Notification(name: name, object: "second"), coalesceMask: Int(mask.rawValue))
        RunLoop.current.run(mode: .default, before: Date())
        // Foundation's queue posts the last first.
        XCTAssertEqual(objects.lines, ["first", "third"])
        center.removeObserver(token)
    }

    func testTheDefaultQueueIsThatOfTheThread() {
        XCTAssertTrue(NotificationQueue.default === PostingQueue.default)
    }
}
