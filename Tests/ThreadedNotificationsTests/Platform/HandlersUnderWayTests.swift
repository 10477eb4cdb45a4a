import Foundation
import XCTest

@testable import ThreadedNotifications

final class HandlersUnderWayTests: XCTestCase {
    private static func observer() -> Observer {
        Observer(
            name: nil, object: .none, mailbox: nil, options: ObserverOptions(),
            handler: ObserverHandler(.notification { _ in }),
            isRemovedWithToken: true, location: SourceLocation("test", 0))
    }

    private static func wait() throws -> DeliveryWait { try DeliveryWait(for: [], at: SourceLocation("test", 0)) }

    func testItReturnsTheObserversOf100NestedHandlersInOrderWithoutBlocks() {
        var handlers = HandlersUnderWay()
        defer { handlers.deallocate() }
        let observers = (0..<100).map { _ in Self.observer() }
        for _ in 0..<3 {
            for (count, observer) in observers.enumerated() {
                XCTAssertTrue(handlers.observers.elementsEqual(observers[..<count]) { $0 === $1 })
                handlers.begin(observer, nil)
                handlers.begin(nil, nil)
            }
            for count in observers.indices.reversed() {
                XCTAssertTrue(handlers.observers.elementsEqual(observers[...count]) { $0 === $1 })
                handlers.end()
                handlers.end()
            }
            XCTAssertTrue(handlers.observers.isEmpty)
        }
    }

    func testAHandlersWaitIsRetainedUntilTheHandlerHasReturned() throws {
        var handlers = HandlersUnderWay()
        defer { handlers.deallocate() }
        let observer = Self.observer()
        var waits: [WeakReference<AnyObject>] = []
        for _ in 0..<50 {
            let wait = try Self.wait()
            waits.append(WeakReference<AnyObject>(wait))
            handlers.begin(observer, wait)
        }
        for count in (0..<50).reversed() {
            XCTAssertEqual(waits.map { $0.object != nil }, (0..<50).map { $0 <= count })
            handlers.end()
        }
        XCTAssertFalse(waits.contains { $0.object != nil })
    }

    func testHandlersAreRemovedFromTheInnermostToTheOutermostEachWithItsWait() throws {
        var handlers = HandlersUnderWay()
        defer { handlers.deallocate() }
        let observers = (0..<20).map { $0 % 3 == 0 ? nil : Self.observer() }
        var waits: [DeliveryWait?] = []
        for index in observers.indices {
            waits.append(index % 2 == 0 ? nil : try Self.wait())
            handlers.begin(observers[index], waits[index])
        }
        for index in observers.indices.reversed() {
            let removed = handlers.removeInnermost()
            let innermost = try XCTUnwrap(removed)
            XCTAssertIdentical(innermost.observer, observers[index])
            XCTAssertIdentical(innermost.wait, waits[index])
        }
        let none = handlers.removeInnermost()
        XCTAssertNil(none)
        let kept = waits.map { $0.map { WeakReference<AnyObject>($0) } }
        waits = []
        XCTAssertFalse(kept.contains { $0?.object != nil })
    }

    func testAThreadHasAListOfItsRunningHandlers200Deep() {
        let center = ThreadedNotificationCenter()
        let names = (0..<200).map { Notification.Name("name \($0)") }
        let seen = Locked<[[ObserverID]]>([])
        let tokens = names.indices.map { index in
            center.addObserver(forName: names[index], on: .postingThread) { _ in
                if index + 1 < names.count { center.post(name: names[index + 1]) }
                seen.withLock { $0.append(ThreadContext.current.observersUnderWay) }
            }
        }
        center.post(name: names[0])
        let ids = tokens.map(\.id)
        XCTAssertEqual(seen.withLock { $0 }, ids.indices.reversed().map { Array(ids[...$0]) })
        XCTAssertEqual(ThreadContext.current.observersUnderWay, [])
    }
}
