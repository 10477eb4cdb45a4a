import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class ValueObserversTests: XCTestCase {
    private static let name = Notification.Name("value")

    private let location = ThreadedNotifications.SourceLocation("test", 0)

    func testAValueThatIsDeliveredOnTheCallingThreadIsCountedOnceAndSoIsOneForARemovedObserver() {
        let observers = ValueObservers()
        let values = Locked<[Int]>([])
        let (token, handle) = observers.add(
            named: Self.name, options: ObserverOptions(), at: location,
            using: .on(.postingThread) { (value: Int) in values.withLock { $0.append(value) } })
        observers.deliver(1, named: Self.name, to: [handle])
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 1))
        token.cancel()
        observers.deliver(2, named: Self.name, to: [handle])
        XCTAssertEqual(values.withLock { $0 }, [1])
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 1, cancelled: 1))
    }

    func testWhatAHandlerDeliversOnTheCallingThreadDoesNotOvertakeOnOtherThreads() throws {
        let observers = ValueObservers()
        let worker = try RunLoopThread.started("worker")
        let values = Locked<[Int]>([])
        let (remote, remoteHandle) = observers.add(
            named: Self.name, options: ObserverOptions(), at: location,
            using: .on(worker) { (value: Int) in values.withLock { $0.append(value) } })
        let (local, localHandle) = observers.add(
            named: Self.name, options: ObserverOptions(), at: location,
            using: .on(.postingThread) { (value: Int) in
                if value == 1 { observers.deliver(2, named: Self.name, to: [remoteHandle]) }
            })
        observers.deliver(1, named: Self.name, to: [localHandle, remoteHandle])
        try worker.stopAndWait()
        XCTAssertEqual(values.withLock { $0 }, [1, 2])
        XCTAssertEqual(remote.counters, DeliveryCounters(delivered: 2))
        XCTAssertEqual(local.counters, DeliveryCounters(delivered: 1))
    }

    func testThePolicyKeepLatestComparesTheNameAndTheObjectOfValues() throws {
        let observers = ValueObservers()
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let values = Locked<[String]>([])
        let (token, handle) = observers.add(
            named: Self.name, options: ObserverOptions(overflow: .keepLatest), at: location,
            using: .on(worker) { (value: String) in values.withLock { $0.append(value) } })
        for (value, object) in [("a1", "a"), ("b1", "b"), ("a2", "a")] {
            observers.deliver(value, named: Self.name, object: object, to: [handle])
        }
        resume.signal()
        try worker.stopAndWait()
        XCTAssertEqual(values.withLock { $0 }, ["b1", "a2"])
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 2, coalesced: 1))
    }

    func testATokenThatIsReleasedRemovesItsObserverAndTheOwnerIsToldOnce() {
        let removed = Locked<[UInt64]>([])
        let observers = ValueObservers { id in removed.withLock { $0.append(id) } }
        do {
            let (token, _) = observers.add(
                named: Self.name, options: ObserverOptions(), at: location,
                using: .on(.postingThread) { (_: Int) in })
            XCTAssertTrue(!observers.isEmpty && observers.own(token) && !ValueObservers().own(token))
            token.cancel()
        }
        XCTAssertTrue(observers.isEmpty)
        XCTAssertEqual(removed.withLock { $0.count }, 1)
    }
}
