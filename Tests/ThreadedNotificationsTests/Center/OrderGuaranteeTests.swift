import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let guarantee = Notification.Name("guarantee")

private func number(_ value: Int) -> Notification { Notification(name: guarantee, object: value) }

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// Guarantees 1 to 5 of the article *Order and Guarantees*: threads and order.
final class OrderGuaranteeTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testGuarantee01AHandlerRunsOnItsTargetThreadAndOnNoOther() throws {
        let center = ThreadedNotificationCenter()
        let threads = try (0..<3).map { try RunLoopThread.started("target \($0)") }
        let seen = Locked<[String: Set<Int>]>([:])
        @Sendable func record(_ observer: String) {
            let number = ThreadIdentity.current.number
            seen.withLock { _ = $0[observer, default: []].insert(number) }
        }
        var tokens = threads.map { thread in
            center.addObserver(forName: guarantee, on: thread) { _ in record(thread.name) }
        }
        tokens.append(center.addObserver(forName: guarantee, on: .main) { _ in record("main") })
        tokens.append(center.addObserver(forName: guarantee, on: .current, using: { _ in record("current") }))
        tokens.append(center.addObserver(forName: guarantee, on: .postingThread) { _ in record("posting") })
        let posters = try (0..<3).map { try RunLoopThread.started("poster \($0)") }
        for poster in posters + threads {
            try poster.perform { for _ in 0..<100 { center.post(name: guarantee) } }
        }
        for thread in posters { try thread.stopAndWait() }
        for thread in threads { try thread.performAndWait(timeout: timeout) {} }
        center.post(name: guarantee)
        for thread in threads { try thread.stopAndWait() }
        RunLoop.runCurrentOnce()

        let all = seen.withLock { $0 }
        for thread in threads { XCTAssertEqual(all[thread.name], [try XCTUnwrap(thread.identity).number]) }
        XCTAssertEqual(all["main"], [1])
        XCTAssertEqual(all["current"], [1])
        XCTAssertEqual(all["posting"], Set((posters + threads).compactMap { $0.identity?.number } + [1]))
        for token in tokens { XCTAssertEqual(token.counters.delivered, 601) }
    }

    func testGuarantee02APostOnTheTargetThreadIsDeliveredBeforeItReturnsUnlessOthersWait() throws {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[Int]>([])
        let token = center.addObserver(forName: guarantee, on: .current, transform: number(of:)) { value in
            handled.withLock { $0.append(value) }
        }
        XCTAssertEqual(center.post(number(1)).delivered, 1)
        XCTAssertEqual(handled.withLock { $0 }, [1])

        let poster = try RunLoopThread.started("poster")
        try poster.performAndWait(timeout: timeout) { _ = center.post(number(2)) }
        XCTAssertEqual(center.post(number(3)).waiting, 1, "2 waits, so 3 must not overtake it")
        XCTAssertEqual(handled.withLock { $0 }, [1])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, [1, 2, 3])
        XCTAssertEqual(center.post(number(4)).delivered, 1)
        try poster.stopAndWait()
        token.cancel()
    }

    func testGuarantee02ThePolicyAtOnceOvertakesAndMarksTheDelivery() throws {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[Int]>([])
        let token = center.addObserver(
            forName: guarantee, on: .current, options: ObserverOptions(sameThread: .atOnce), transform: number(of:)
        ) { value in handled.withLock { $0.append(value) } }
        let poster = try RunLoopThread.started("poster")
        try poster.performAndWait(timeout: timeout) { _ = center.post(number(1)) }
        let overtaking = try tracing(of: token.id) {
            XCTAssertEqual(center.post(number(2)).delivered, 1)
            RunLoop.runCurrentOnce()
        }
        XCTAssertEqual(handled.withLock { $0 }, [2, 1])
        XCTAssertEqual(overtaking.filter { $0.stage == .deliver }.map(\.overtakes), [true, false])
        try poster.stopAndWait()
    }

    func testGuarantee03APostOnAnotherThreadDoesNotWait() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let resume = DispatchSemaphore(value: 0)
        let handled = Atomic<Int>(0)
        let token = center.addObserver(forName: guarantee, on: worker) { _ in
            resume.wait()
            handled.add(1, ordering: .relaxed)
        }
        // The handler waits until all is posted: the test hangs if a post waits for the handler.
        for _ in 0..<10 { XCTAssertEqual(center.post(name: guarantee).waiting, 1) }
        for _ in 0..<10 { resume.signal() }
        try worker.stopAndWait()
        XCTAssertEqual(handled.load(ordering: .relaxed), 10)
        XCTAssertEqual(token.counters, .init(delivered: 10))
    }

    func testGuarantee04TheNotificationsOfOneThreadReachAnObserverInPostingOrder() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let last = Locked<[Int: Int]>([:])
        let faults = Atomic<Int>(0)
        let token = center.addObserver(forName: guarantee, on: worker, transform: number(of:)) { value in
            let before = last.withLock { $0.updateValue(value, forKey: value / 100_000) }
            if let before, before >= value { faults.add(1, ordering: .relaxed) }
            // A nested run of the run loop must not change the order.
            if value.isMultiple(of: 97) { RunLoop.runCurrentOnce() }
        }
        let posters = try (0..<4).map { try RunLoopThread.started("poster \($0)") }
        for (index, poster) in posters.enumerated() {
            try poster.perform {
                for value in 0..<2000 { center.post(number(index * 100_000 + value)) }
            }
        }
        for poster in posters { try poster.stopAndWait() }
        try worker.stopAndWait()
        XCTAssertEqual(token.counters.delivered, 8000)
        XCTAssertEqual(faults.load(ordering: .relaxed), 0)
    }

    func testGuarantee04AHandlersPostDuringAWaitingPostIsDeliveredAfterIt() throws {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[Int]>([])
        let token = center.addObserver(forName: guarantee, on: .main, transform: number(of:)) { value in
            handled.withLock { $0.append(value) }
            if value == 1 { center.post(number(3)) }
        }
        Thread.posting(1) { center.post(number(1)) }.wait()
        XCTAssertEqual(try center.postAndWait(number(2), timeout: timeout), DeliveryCounters(delivered: 1))
        XCTAssertEqual(handled.withLock { $0 }, [1, 2])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, [1, 2, 3])
        XCTAssertEqual(token.counters, .init(delivered: 3))
    }

    func testGuarantee04ARunLoopThatAHandlerRunsDeliversTheWaitingPostInOrder() throws {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[Int]>([])
        let token = center.addObserver(forName: guarantee, on: .main, transform: number(of:)) { value in
            if value == 1 {
                center.post(number(3))
                RunLoop.runCurrentOnce()
            }
            handled.withLock { $0.append(value) }
        }
        Thread.posting(1) { center.post(number(1)) }.wait()
        XCTAssertEqual(try center.postAndWait(number(2), timeout: timeout), DeliveryCounters(delivered: 1))
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, [2, 3, 1])
        XCTAssertEqual(token.counters, .init(delivered: 3))
    }

    func testGuarantee04AHandlersPostAndBlockDuringAWaitingBlockAreDeliveredAfterIt() throws {
        let center = ThreadedNotificationCenter()
        let log = Locked<[String]>([])
        let first = center.addObserver(forName: guarantee, object: 1, on: .main) { _ in
            log.withLock { $0.append("1") }
            center.post(number(2))
            do { try TargetThread.main.perform { log.withLock { $0.append("performed") } } } catch {
                XCTFail("\(error)")
            }
        }
        let second = center.addObserver(forName: guarantee, object: 2, on: .main) { _ in
            log.withLock { $0.append("2") }
        }
        Thread.posting(1) { center.post(number(1)) }.wait()
        let value = try TargetThread.main.performAndWait(timeout: timeout) {
            log.withLock { $0.append("block") }
            return 42
        }
        XCTAssertEqual(value, 42)
        XCTAssertEqual(log.withLock { $0 }, ["1", "block"])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(log.withLock { $0 }, ["1", "block", "2", "performed"])
        XCTAssertEqual([first, second].map(\.counters.delivered), [1, 1])
    }

    func testGuarantee02AnAtOnceDeliveryOvertakesOlderPostsButNotItsOwn() throws {
        let center = ThreadedNotificationCenter()
        let atOnce = center.addObserver(
            forName: guarantee, on: .main, options: ObserverOptions(sameThread: .atOnce)
        ) { _ in }
        let later = center.addObserver(
            forName: guarantee, on: .main, options: ObserverOptions(sameThread: .later)
        ) { _ in }
        let events = try tracing(of: atOnce.id) { for _ in 0..<2 { center.post(number(1)) } }
        XCTAssertEqual(events.filter { $0.stage == .deliver }.map(\.overtakes), [false, true])
        RunLoop.runCurrentOnce()
        XCTAssertEqual([atOnce, later].map(\.counters.delivered), [2, 2])
    }

    func testGuarantee05ObserversOfOneThreadAreCalledInTheOrderInWhichTheyWereAdded() throws {
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        let worker = try RunLoopThread.started("worker")
        let called = Locked<[Int]>([])
        let object = NSObject()
        // Three kinds of observer, which are found in different lists: of name and object, of the name, of any name.
        let tokens = (0..<60).map { index in
            center.addObserver(
                forName: index % 3 == 2 ? nil : guarantee, object: index % 3 == 0 ? object : nil, on: worker
            ) { _ in called.withLock { $0.append(index) } }
        }
        center.post(name: guarantee, object: object)
        try worker.performAndWait(timeout: timeout) {}
        XCTAssertEqual(called.withLock { $0 }, Array(0..<60))

        called.withLock { $0 = [] }
        foundation.post(name: guarantee, object: object)
        try worker.stopAndWait()
        XCTAssertEqual(called.withLock { $0.filter { $0 % 3 != 2 } }, (0..<60).filter { $0 % 3 != 2 })
        XCTAssertEqual(called.withLock { $0.filter { $0 % 3 == 2 } }, (0..<60).filter { $0 % 3 == 2 })
        XCTAssertEqual(tokens.map(\.counters.delivered), Array(repeating: 2, count: 60))
    }

    func testGuarantee05ATransformPostsAfterThePositionsOfItsThreadAndBeforeThoseOfAnother() throws {
        let worker = try RunLoopThread.started("worker")
        let center = ThreadedNotificationCenter()
        let expected: [(thread: any DeliveryTarget, calls: [String])] = [
            (CurrentThread.current, ["a1", "b1", "c1", "a2", "b2", "c2"]),
            (worker, ["a1", "a2", "b2", "c2", "b1", "c1"]),
        ]
        for (thread, calls) in expected {
            let called = Locked<[String]>([])
            func observe(_ name: String, on thread: some DeliveryTarget) -> ObserverToken {
                center.addObserver(
                    forName: guarantee, on: thread,
                    transform: { notification in
                        if name == "b", number(of: notification) == 1 { center.post(number(2)) }
                        return number(of: notification)
                    },
                    using: { value in called.withLock { $0.append("\(name)\(value)") } })
            }
            let tokens = ["a", "b", "c"].map { observe($0, on: thread) }
            center.post(number(1))
            try worker.performAndWait(timeout: timeout) {}
            // What waits on this thread.
            RunLoop.runCurrentOnce()
            XCTAssertEqual(called.withLock { $0 }, calls)
            for token in tokens { token.cancel() }
        }
        try worker.stopAndWait()
    }
}
