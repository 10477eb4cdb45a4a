import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted")

/// A post on the thread of its observers calls each of them once, in order.
final class FanOutTests: XCTestCase {
    private let timeout = TestTimeout.hang

    /// Observers on one thread that log their calls and then act.
    private struct Observers {
        struct Call: Hashable {
            var post: Int
            var observer: Int
        }

        let calls = Locked<[Call]>([])
        private(set) var tokens: [ObserverToken] = []

        /// - Parameter act: called by each handler after its call is logged.
        init(
            of center: ThreadedNotificationCenter, on thread: some DeliveryTarget, count: Int,
            act: @escaping @Sendable (Call) -> Void = { _ in }
        ) {
            for index in 0..<count {
                tokens.append(
                    center.addObserver(
                        forName: posted, on: thread,
                        transform: { $0.object as? Int },
                        using: { [calls] post in
                            let call = Call(post: post, observer: index)
                            calls.withLock { $0.append(call) }
                            act(call)
                        }))
            }
        }

        var counters: [DeliveryCounters] { tokens.map(\.counters) }

        /// The called observers, for all posts.
        var order: [Int] { calls.withLock { $0.map(\.observer) } }

        func cancel() { for token in tokens { token.cancel() } }
    }

    func testObserversAreCalledOnceInOrder() {
        let center = ThreadedNotificationCenter()
        let observers = Observers(of: center, on: .main, count: 7)
        for post in 1...3 {
            XCTAssertEqual(center.post(name: posted, object: post), DeliveryCounters(delivered: 7))
            RunLoop.pollCurrent()
        }
        XCTAssertEqual(observers.order, Array(0..<7) + Array(0..<7) + Array(0..<7))
        XCTAssertEqual(observers.counters, Array(repeating: .init(delivered: 3), count: 7))
        observers.cancel()
    }

    func testRunLoopsThatEveryHandlerRunsDeliverToTheRemainingObserversInOrder() {
        let center = ThreadedNotificationCenter()
        let returned = Locked<[Int]>([])
        let observers = Observers(of: center, on: .main, count: 5) { call in
            RunLoop.runCurrentOnce()
            returned.withLock { $0.append(call.observer) }
        }
        XCTAssertEqual(center.post(name: posted, object: 1), DeliveryCounters(delivered: 5))
        XCTAssertEqual(observers.order, [0, 1, 2, 3, 4])
        // Each run delivered to the next observer, whose handler returned first.
        XCTAssertEqual(returned.withLock { $0 }, [4, 3, 2, 1, 0])
        observers.cancel()
    }

    func testARunLoopThatAnyHandlerRunsDeliversToTheRemainingObserversInOrder() {
        for running in 0..<7 {
            let center = ThreadedNotificationCenter()
            let before = Locked<[[Int]]>([])
            let observers = Locked<Observers?>(nil)
            let new = Observers(of: center, on: .main, count: 7) { call in
                guard call.observer == running else { return }
                RunLoop.runCurrentOnce()
                before.withLock { $0.append(observers.withLock { $0?.order } ?? []) }
            }
            observers.withLock { $0 = new }
            XCTAssertEqual(center.post(name: posted, object: 1), DeliveryCounters(delivered: 7))
            XCTAssertEqual(before.withLock { $0 }, [Array(0..<7)], "when the run loop returned in \(running)")
            RunLoop.runCurrentOnce()
            XCTAssertEqual(new.order, Array(0..<7))
            XCTAssertEqual(new.counters, Array(repeating: .init(delivered: 1), count: 7))
            new.cancel()
        }
    }

    func testEachObserverIsCalledOnceIfEveryHandlerRunsTheRunLoop() {
        let center = ThreadedNotificationCenter()
        let observers = Observers(of: center, on: .main, count: 9) { _ in RunLoop.runCurrentOnce() }
        XCTAssertEqual(center.post(name: posted, object: 1), DeliveryCounters(delivered: 9))
        XCTAssertEqual(observers.order, Array(0..<9))
        observers.cancel()
    }

    func testAHandlersPostIsDeliveredAfterThePostThatCalledItAlsoInANestedRun() {
        for runsRunLoop in [false, true] {
            let center = ThreadedNotificationCenter()
            let observers = Observers(of: center, on: .main, count: 4) { call in
                if call.post < 3 {
                    // Two handlers post two notifications each.
                    if call.observer == 0 { center.post(name: posted, object: call.post + 1) }
                    if call.observer == 2 { center.post(name: posted, object: 10 * (call.post + 1)) }
                }
                if runsRunLoop { RunLoop.runCurrentOnce() }
            }
            center.post(name: posted, object: 1)
            for _ in 0..<4 { RunLoop.runCurrentOnce() }
            let posts = [1, 2, 20, 3, 30]
            let expected = posts.flatMap { post in (0..<4).map { Observers.Call(post: post, observer: $0) } }
            XCTAssertEqual(observers.calls.withLock { $0 }, expected, "\(runsRunLoop)")
            observers.cancel()
        }
    }

    func testAnObserverThatIsRemovedBeforeItsCallIsNotCalled() {
        for runsRunLoop in [false, true] {
            let center = ThreadedNotificationCenter()
            let tokens = Locked<[ObserverToken]>([])
            let observers = Observers(of: center, on: .main, count: 6) { call in
                guard call.observer == 1 else { return }
                for index in [0, 2, 4] { tokens.withLock { $0[index] }.cancel() }
                if runsRunLoop { RunLoop.runCurrentOnce() }
            }
            tokens.withLock { $0 = observers.tokens }
            XCTAssertEqual(center.post(name: posted, object: 1), DeliveryCounters(delivered: 4, cancelled: 2))
            XCTAssertEqual(observers.order, [0, 1, 3, 5])
            XCTAssertEqual(observers.counters.map(\.waiting), [0, 0, 0, 0, 0, 0])
            observers.cancel()
        }
    }

    func testThePostReportsTheOutcomesOfANestedRunsDeliveries() {
        let center = ThreadedNotificationCenter()
        let tokens = Locked<[ObserverToken]>([])
        let observers = Observers(of: center, on: .main, count: 3) { call in
            guard call.observer == 0 else { return }
            RunLoop.runCurrentOnce()
            // The nested run has delivered to it.
            tokens.withLock { $0[1] }.cancel()
        }
        tokens.withLock { $0 = observers.tokens }
        let transformed = center.addObserver(forName: posted, on: .main, transform: { _ in Int?.none }, using: { _ in })
        XCTAssertEqual(center.post(name: posted, object: 1), DeliveryCounters(delivered: 3))
        XCTAssertEqual(observers.counters, Array(repeating: .init(delivered: 1), count: 3))
        XCTAssertEqual(transformed.counters, .init())
        observers.cancel()
    }

    // MARK: The thread ends

    func testIfAHandlerEndsItsThreadTheRemainingDeliveriesAreTargetGone() throws {
        @Sendable func endThread() { Thread.exit() }
        for last in 0..<7 {
            for runsRunLoop in [false, true] {
                let center = ThreadedNotificationCenter()
                let worker = try RunLoopThread.started("worker")
                let observers = Observers(of: center, on: worker, count: 7) { call in
                    if call.observer == last { endThread() }
                    if call.observer == 1, runsRunLoop { RunLoop.runCurrentOnce() }
                }
                try worker.perform { center.post(name: posted, object: 1) }
                try worker.waitUntilFinished(timeout: timeout)
                XCTAssertEqual(observers.order, Array(0...last))
                let expected = (0..<7).map { index in
                    DeliveryCounters(
                        delivered: index <= last ? 1 : 0, targetGone: index <= last ? 0 : 1)
                }
                XCTAssertEqual(observers.counters, expected, "ends in \(last), \(runsRunLoop)")
                XCTAssertEqual(center.post(name: posted, object: 2), DeliveryCounters(targetGone: 7))
            }
        }
    }

    func testIfAHandlerEndsItsThreadWaitingPostsAreCountedAsTargetGoneToo() throws {
        @Sendable func endThread() { Thread.exit() }
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let observers = Observers(of: center, on: worker, count: 7) { call in
            if call.observer == 1 { center.post(name: posted, object: 2) }
            if call.observer == 3 { endThread() }
        }
        try worker.perform { center.post(name: posted, object: 1) }
        try worker.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(observers.order, [0, 1, 2, 3])
        let expected = (0..<7).map { index in
            DeliveryCounters(delivered: index <= 3 ? 1 : 0, targetGone: index <= 3 ? 1 : 2)
        }
        XCTAssertEqual(observers.counters, expected)
    }

    // MARK: Random sequences

    func testEachObserverIsCalledOnceForEachPostInOrderInRandomSequences() {
        for seed in 0..<TestRounds.rounds(15, stress: 60) as Range<UInt64> {
            let random = Locked(SeededGenerator(seed: seed))
            @Sendable func once(in number: Int) -> Bool {
                random.withLock { Int.random(in: 0..<number, using: &$0) == 0 }
            }
            let center = ThreadedNotificationCenter()
            let last = Locked(0)
            @Sendable func postNext() {
                let post = last.withLock { last -> Int? in
                    guard last < 40 else { return nil }
                    last += 1
                    return last
                }
                if let post { center.post(name: posted, object: post) }
            }
            let count = 2 + Int(seed % 5)
            let observers = Observers(of: center, on: .main, count: count) { _ in
                for _ in 0..<2 where once(in: 3) { postNext() }
                if once(in: 4) { RunLoop.runCurrentOnce() }
                if once(in: 8) { RunLoop.pollCurrent() }
            }
            while last.withLock({ $0 }) < 40 {
                postNext()
                if once(in: 2) { RunLoop.runCurrentOnce() }
            }
            for _ in 0..<100 { RunLoop.runCurrentOnce() }
            let expected = (1...40).flatMap { post in
                (0..<count).map { Observers.Call(post: post, observer: $0) }
            }
            XCTAssertEqual(observers.calls.withLock { $0 }, expected, "seed \(seed)")
            XCTAssertEqual(observers.counters.map(\.delivered), Array(repeating: 40, count: count))
            observers.cancel()
        }
    }
}
