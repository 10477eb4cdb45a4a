import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let asked = Notification.Name("asked")

/// The questions that a center answers about its observers.
final class ObserverQuestionsTests: XCTestCase {
    func testACenterHasObserversIfAPostWouldMatchOne() {
        let center = ThreadedNotificationCenter()
        let (document, draft) = (NSObject(), NSObject())
        func check(_ expected: Bool, for object: Any? = nil, line: UInt = #line) {
            for _ in 0..<2 {
                XCTAssertEqual(center.hasObservers(of: asked, object: object), expected, line: line)
                XCTAssertEqual(center.post(name: asked, object: object).total > 0, expected, line: line)
            }
        }
        func observe(_ name: Notification.Name?, _ object: Any? = nil) -> ObserverToken {
            center.addObserver(forName: name, object: object, on: .postingThread) { _ in }
        }
        let tokens = [observe(Notification.Name("other")), observe(asked, document)]
        check(false)
        check(true, for: document)
        check(false, for: draft)
        for name in [asked, nil] {
            let ofAll = observe(name)
            check(true)
            check(true, for: draft)
            ofAll.cancel()
            check(false)
        }
        var object: NSObject? = NSObject()
        center.addObserver(object!, forName: asked, on: .current) { _, _ in }
        check(true)
        object = nil
        check(false)
        for token in tokens { token.cancel() }
    }

    func testObserversAreDescribedInTheOrderInWhichTheyWereAdded() throws {
        let center = ThreadedNotificationCenter()
        let worker = RunLoopThread(name: "worker")
        let (document, options) = (NSObject(), ObserverOptions(sameThread: .atOnce, overflow: .keepLatest))
        let tokens = [
            center.addObserver(forName: asked, on: .main, file: "kitchen/main.swift", line: 16) { _ in },
            center.addObserver(forName: nil, object: document, on: .postingThread, file: "a", line: 1) { _ in },
            center.addObserver(forName: asked, object: 3, on: worker, options: options, file: "b", line: 2) { _ in },
        ]
        let removed = center.addObserver(forName: asked, on: .main) { _ in }
        for _ in 0..<2 { center.post(name: asked) }
        removed.cancel()
        let descriptions = center.observers
        let ids = tokens.map(\.id)
        XCTAssertEqual(descriptions.map(\.id), ids)
        XCTAssertEqual(
            descriptions.map(\.description),
            [
                "observer \(ids[0]) of asked on main, kitchen/main.swift:16; 2: delivered 2",
                "observer \(ids[1]) of any name with object NSObject on the posting thread, a:1; none",
                "observer \(ids[2]) of asked with object Int on worker, b:2; none",
            ])
        XCTAssertEqual(tokens.map(\.description), descriptions.map(\.description))
        XCTAssertEqual(descriptions.map(\.thread?.number), [1, nil, nil])
        XCTAssertEqual(descriptions[2].options.overflow, .keepLatest)
        worker.stop()
    }
}
