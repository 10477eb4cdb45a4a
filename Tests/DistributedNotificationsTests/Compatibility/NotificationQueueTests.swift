import Foundation
import NotificationCompatibility
import XCTest

// This module imports Foundation, too, so this line decides which queue the name means.
typealias NotificationQueue = NotificationCompatibility.NotificationQueue

final class NotificationQueueTests: XCTestCase {
    private let saved = Notification.Name("saved")

    func testTheNameMeansThePackagesQueueInAModuleThatImportsFoundationToo() {
        let center = NotificationCenter()
        let queue: NotificationQueue = NotificationQueue(notificationCenter: center)
        let objects = Log()
        let token = center.addObserver(forName: saved, object: nil, queue: nil) {
            objects.write("\($0.object as? String ?? "-")")
        }
        let style: NotificationQueue.PostingStyle = .asap
        for object in ["first", "second", "third"] {
            queue.enqueue(Notification(name: saved, object: object), postingStyle: style)
        }
        let mask: NotificationQueue.NotificationCoalescing = [.onSender]
        queue.dequeueNotifications(
            matching: Notification(name: saved, object: "second"), coalesceMask: Int(mask.rawValue))
        _ = RunLoop.current.run(mode: .default, before: Date())
        // Foundation's queue posts the last first.
        XCTAssertEqual(objects.lines, ["first", "third"])
        center.removeObserver(token)
    }

    func testTheDefaultQueueIsThatOfTheThread() {
        XCTAssertTrue(NotificationQueue.default === PostingQueue.default)
    }
}
