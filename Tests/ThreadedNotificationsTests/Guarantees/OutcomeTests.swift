import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted in OutcomeTests")

private func number(_ value: Int) -> Notification { Notification(name: posted, object: value) }

/// Guarantee 14: each pair of a post and an observer has one outcome. `RandomProgramsTests` checks it too.
final class OutcomeTests: XCTestCase {
    private let timeout = TestTimeout.hang

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

    func testEachPostHasOneOutcomeForEachObserverAndTheEventsAgree() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let observers = Locked<Set<UInt64>>([])
        var tokens: [ObserverToken] = []
        let events = try tracing {
            for policy: OverflowPolicy in [
                .unbounded, .dropOldest(capacity: 3), .dropNewest(capacity: 3), .keepLatest, .refuse(capacity: 1),
            ] {
                tokens.append(
                    center.addObserver(forName: posted, on: worker, options: ObserverOptions(overflow: policy)) {
                        _ in
                    })
            }
            tokens.append(center.addObserver(forName: posted, on: .postingThread) { _ in })
            let ended = try RunLoopThread.started("ended")
            try ended.stopAndWait()
            tokens.append(center.addObserver(forName: posted, on: ended) { _ in })
            observers.withLock { $0 = Set(tokens.map(\.id)) }
            let poster = Thread.posting(2) { for value in 0..<50 { center.post(number(value % 4)) } }
            tokens[0].cancel()
            poster.wait()
            try worker.stopAndWait()
        }
        let outcomes: [DeliveryEvent.Stage] = [.deliver, .coalesce, .drop, .cancel, .targetGone]
        var resolved: [UInt64: [UInt64: [DeliveryEvent.Stage]]] = [:]
        for event in events where outcomes.contains(event.stage) && observers.withLock({ $0.contains(event.observer) })
        {
            resolved[event.observer, default: [:]][event.post, default: []].append(event.stage)
        }
        for token in tokens {
            let counters = token.counters
            XCTAssertEqual(counters.waiting, 0)
            let outcomesOfPosts = resolved[token.id] ?? [:]
            XCTAssertEqual(outcomesOfPosts.count, counters.total)
            XCTAssertTrue(outcomesOfPosts.values.allSatisfy { $0.count == 1 }, "\(outcomesOfPosts)")
            let all = outcomesOfPosts.values.flatMap(\.self)
            XCTAssertEqual(all.count { $0 == .deliver }, counters.delivered)
            XCTAssertEqual(all.count { $0 == .coalesce }, counters.coalesced)
            XCTAssertEqual(all.count { $0 == .drop }, counters.dropped + counters.refused)
            XCTAssertEqual(all.count { $0 == .cancel }, counters.cancelled)
            XCTAssertEqual(all.count { $0 == .targetGone }, counters.targetGone)
        }
        XCTAssertEqual(tokens.last?.counters.targetGone, 100)
    }

    func testAnObserverWhoseObjectHasBeenDeallocatedDoesNotMatch() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let living = center.addObserver(forName: posted, on: worker) { _ in }
        // This thread does not run its run loop: a wait for its delivery would never end.
        let (isAdded, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let log = Locked<[String]>([])
        let stalled = Thread.posting(1) {
            center.addObserver(MethodObserver(log), forName: posted, on: .current) { $0.handle($1) }
            isAdded.signal()
            end.wait()
        }
        isAdded.wait()
        XCTAssertEqual(log.withLock { $0 }, ["deallocated"])
        XCTAssertEqual(center.registrations.observers, 2)
        let posts = try tracing {
            XCTAssertEqual(try center.postAndWait(number(1), timeout: timeout), DeliveryCounters(delivered: 1))
        }
        XCTAssertEqual(posts.filter { $0.stage == .post }.map(\.count), [1])
        XCTAssertEqual(center.registrations.observers, 1, "the observer of the deallocated object is removed")
        XCTAssertEqual(center.post(number(2)), DeliveryCounters(waiting: 1))
        end.signal()
        stalled.wait()
        // The same holds when the thread has ended.
        XCTAssertEqual(try center.postAndWait(number(3), timeout: timeout), DeliveryCounters(delivered: 1))
        try worker.stopAndWait()
        XCTAssertEqual(living.counters, .init(delivered: 3))
    }

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
}
