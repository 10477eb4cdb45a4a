import Foundation
import PostingQueues
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let state = Notification.Name("state")

/// `ObserverOptions.receivesLatest`: observers that are added later get the latest notification.
final class LatestNotificationTests: XCTestCase {
    private let timeout = TestTimeout.hang
    private let receiving = ObserverOptions(receivesLatest: true)
    private var keeping: [ObserverToken] = []

    /// A center with an observer that receives the latest notification, and to which none is delivered.
    private func retaining(capturing foundation: NotificationCenter? = nil) -> ThreadedNotificationCenter {
        let center = ThreadedNotificationCenter(capturing: foundation)
        keeping.append(keep(center))
        return center
    }

    private func keep(_ center: ThreadedNotificationCenter) -> ObserverToken {
        center.addObserver(
            forName: state, on: .postingThread, options: receiving, transform: { _ in Int?.none }, using: { _ in })
    }

    /// The values that a new observer on the posting thread gets.
    private func seen(
        _ center: ThreadedNotificationCenter, _ name: Notification.Name? = state, object: Any? = nil
    ) -> [Int] {
        let values = Locked<[Int]>([])
        let token = center.addObserver(
            forName: name, object: object, on: .postingThread, options: receiving,
            transform: { $0.userInfo?["value"] as? Int }, using: { value in values.withLock { $0.append(value) } })
        token.cancel()
        return values.withLock { $0 }
    }

    @discardableResult
    private func post(
        _ value: Int?, to center: ThreadedNotificationCenter, _ name: Notification.Name = state, object: Any? = nil
    ) -> DeliveryCounters {
        center.post(name: name, object: object, userInfo: value.map { ["value": $0] })
    }

    func testTheLatestNotificationOfANameIsRetainedWhileAnObserverReceivesIt() {
        let center = ThreadedNotificationCenter()
        let plain = center.addObserver(forName: state, on: .postingThread) { _ in }
        post(1, to: center)
        XCTAssertEqual(seen(center), [], "no observer received it")
        let tokens = (1...2).map { _ in keep(center) }
        for value in 2...3 { post(value, to: center) }
        post(4, to: center, Notification.Name("other"))
        for _ in 0..<2 { XCTAssertEqual(seen(center), [3]) }
        XCTAssertEqual(plain.counters.total, 3, "it has not the option")
        XCTAssertEqual(seen(center, Notification.Name("other")), [])
        tokens[0].cancel()
        XCTAssertEqual(seen(center), [3], "another observer receives it")
        tokens[1].cancel()
        XCTAssertEqual(seen(center), [], "no observer receives it")
    }

    func testNameObjectAndTransformSelectTheObserversThatGetIt() {
        let center = retaining()
        let (document, draft) = (NSObject(), NSObject())
        post(1, to: center, object: document)
        XCTAssertEqual(seen(center, object: document), [1])
        XCTAssertEqual(seen(center, object: draft), [])
        XCTAssertEqual(seen(center, nil), [], "observers of any name do not get it")
        post(nil, to: center, object: document)
        XCTAssertEqual(seen(center), [], "its transform returns nil")
    }

    func testItIsReleasedWithoutALockWhenAnotherReplacesIt() {
        let center = retaining()
        let released = Atomic<Int>(0)
        for _ in 0..<2 {
            center.post(
                name: state,
                object: ReleaseRecorder { [unowned center] in
                    center.addObserver(forName: nil, on: .postingThread) { _ in }.cancel()
                    released.add(1, ordering: .relaxed)
                })
        }
        XCTAssertEqual(released.load(ordering: .relaxed), 1)
        for token in keeping { token.cancel() }
        XCTAssertEqual(released.load(ordering: .relaxed), 2)
    }

    func testEveryWayToPostRetains() throws {
        let foundation = NotificationCenter()
        let center = retaining(capturing: foundation)
        foundation.post(name: state, object: nil, userInfo: ["value": 1])
        XCTAssertEqual(seen(center), [1])
        try center.postAndWait(Notification(name: state, userInfo: ["value": 2]), timeout: timeout)
        XCTAssertEqual(seen(center), [2])
        PostingQueue(center: center).enqueue(Notification(name: state, userInfo: ["value": 3]), postingStyle: .now)
        XCTAssertEqual(seen(center), [3])
        for token in keeping { token.cancel() }
        XCTAssertEqual(center.registrations.captured, 0)
        foundation.post(name: state, object: nil, userInfo: ["value": 4])
        XCTAssertEqual(seen(center), [])
    }

    func testALateObserverGetsItOnItsThreadAndNotBeforeAddObserverReturns() throws {
        let center = retaining()
        post(1, to: center)
        for policy in [SameThreadPolicy.ordered, .atOnce] {
            var handled = 0
            let here = center.addObserver(
                forName: state, on: .current, options: ObserverOptions(sameThread: policy, receivesLatest: true)
            ) { _ in handled += 1 }
            XCTAssertEqual(handled, 0)
            XCTAssertEqual(here.counters, DeliveryCounters(waiting: 1))
            RunLoop.runCurrentOnce()
            XCTAssertEqual(handled, 1)
            XCTAssertEqual(here.counters, DeliveryCounters(delivered: 1))
        }
        let worker = try RunLoopThread.started("worker")
        let isOnWorker = Atomic(false)
        let there = center.addObserver(forName: state, on: worker, options: receiving) { _ in
            isOnWorker.store(worker.isCurrent, ordering: .relaxed)
        }
        try worker.stopAndWait()
        XCTAssertTrue(isOnWorker.load(ordering: .relaxed))
        XCTAssertEqual(there.counters, DeliveryCounters(delivered: 1))
        let late = center.addObserver(forName: state, on: worker, options: receiving) { _ in }
        XCTAssertEqual(late.counters, DeliveryCounters(targetGone: 1))
    }

    func testANewerNotificationThatIsDeliveredFirstMakesItObsolete() {
        let center = retaining()
        post(1, to: center)
        var handled: [Int?] = []
        let token = center.addObserver(
            forName: state, on: .current, options: ObserverOptions(sameThread: .atOnce, receivesLatest: true)
        ) { handled.append($0.userInfo?["value"] as? Int) }
        post(2, to: center)
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled, [2])
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 1, coalesced: 1))
    }

    func testALateObserverGetsTheRetainedOneOrALiveOneAndNeverAnOldOneAfterANewerOne() throws {
        let center = retaining()
        let worker = try RunLoopThread.started("worker")
        let last = TestRounds.rounds(300, stress: 20_000)
        post(0, to: center)
        let isOver = Atomic<Bool>.Box(false)
        let poster = Thread.posting(1) {
            for value in 1...last { center.post(name: state, userInfo: ["value": value]) }
            isOver.value.store(true, ordering: .releasing)
        }
        let policies: [OverflowPolicy] = [.unbounded, .keepLatest, .dropOldest(capacity: 1)]
        var observers: [(values: Locked<[Int]>, token: ObserverToken)] = []
        repeat {
            for (policy, thread) in zip(policies + [.unbounded], [worker, worker, worker, nil]) {
                let values = Locked<[Int]>([])
                let token = center.addObserver(
                    forName: state, on: thread?.targetThread ?? .postingThread,
                    options: ObserverOptions(overflow: policy, receivesLatest: true),
                    transform: { $0.userInfo?["value"] as? Int },
                    using: { value in values.withLock { $0.append(value) } })
                observers.append((values, token))
            }
            if observers.count > 60 { observers.removeFirst(40) }
        } while !isOver.value.load(ordering: .acquiring)
        poster.wait()
        try worker.stopAndWait()
        for (values, token) in observers {
            let values = values.withLock { $0 }
            try require(values.last == last, "\(values.suffix(3)), \(token.counters)")
            try require(zip(values, values.dropFirst()).allSatisfy { $0 < $1 }, "\(values)")
            try require(token.counters.delivered == values.count && token.counters.waiting == 0)
        }
    }
}
