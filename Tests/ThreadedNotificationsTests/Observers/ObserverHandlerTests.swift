import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("shape")

/// Objects that observe with a method.
final class ObserverHandlerTests: XCTestCase {
    func testAnObservingObjectIsNotRetainedAndItsDeallocationRemovesTheObserver() throws {
        let center = ThreadedNotificationCenter()
        let log = Locked<[String]>([])
        var object: MethodObserver? = MethodObserver(log)
        center.addObserver(object!, forName: posted, on: .current) { $0.handle($1) }
        Thread.posting(1) { center.post(name: posted) }.wait()
        RunLoop.runCurrentOnce()
        XCTAssertEqual(center.post(name: posted).delivered, 1)
        XCTAssertEqual(center.registrations.observers, 1)

        Thread.posting(1) { center.post(name: posted) }.wait()
        object = nil
        RunLoop.runCurrentOnce()
        XCTAssertEqual(log.withLock { $0 }, ["handled", "handled", "deallocated"])
        XCTAssertEqual(center.post(name: posted), DeliveryCounters(), "it no longer matches")
        XCTAssertEqual(center.registrations.observers, 0)
    }

    func testAnObservingObjectIsRetainedWhileItsHandlerRuns() throws {
        let center = ThreadedNotificationCenter()
        let log = Locked<[String]>([])
        let owner = Owner()
        owner.object = MethodObserver(log) { owner.object = nil }
        center.addObserver(owner.object!, forName: posted, on: .current) { $0.handle($1) }
        center.post(name: posted)
        XCTAssertEqual(log.withLock { $0 }, ["handled", "deallocated"])
    }
}

private final class Owner {
    var object: MethodObserver?
}

/// An object that observes with a method, and logs when it is deallocated.
private final class MethodObserver {
    private let log: Locked<[String]>
    private let whenHandled: () -> Void

    init(_ log: Locked<[String]>, whenHandled: @escaping () -> Void = {}) {
        self.log = log
        self.whenHandled = whenHandled
    }

    deinit { log.withLock { $0.append("deallocated") } }

    func handle(_ notification: Notification) {
        whenHandled()
        log.withLock { $0.append("handled") }
    }
}
