import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted in LaterTests")

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// `SameThreadPolicy.later`, and `performLater`: nothing is called before the call returns.
final class LaterTests: XCTestCase {
    private let timeout = TestTimeout.hang
    private let center = ThreadedNotificationCenter()
    private let log = Locked<[String]>([])

    private var lines: [String] { log.withLock { $0 } }

    override func tearDown() {
        // The next test begins with an empty mailbox.
        RunLoop.runCurrentOnce()
    }

    /// An observer that logs its name and the notification's number, and then acts.
    private func observe(
        _ name: String, on thread: some DeliveryTarget = .main, _ policy: SameThreadPolicy,
        overflow: OverflowPolicy = .unbounded,
        then act: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> ObserverToken {
        center.addObserver(
            forName: posted, on: thread,
            options: ObserverOptions(sameThread: policy, overflow: overflow), transform: number(of:)
        ) { [log] value in
            log.withLock { $0.append("\(name) \(value)") }
            act(value)
        }
    }

    private func post(_ number: Int) -> DeliveryCounters { center.post(name: posted, object: number) }

    // MARK: The position

    func testGuarantee02ALaterHandlerIsCalledAfterPostReturnedAlsoOfAPostInAHandler() throws {
        let worker = try RunLoopThread.started("worker")
        let (center, log) = (center, log)
        let token = observe("later", on: worker, .later) { value in
            guard value < 3 else { return }
            XCTAssertEqual(center.post(name: posted, object: value + 1), DeliveryCounters(waiting: 1))
            log.withLock { $0.append("posted \(value + 1)") }
        }
        try worker.performAndWait(timeout: timeout) {
            XCTAssertEqual(center.post(name: posted, object: 1), DeliveryCounters(waiting: 1))
            log.withLock { $0.append("posted 1") }
        }
        let isEmpty = expectation(description: "all is delivered")
        @Sendable func fulfillWhenEmpty() {
            if token.counters.waiting == 0 { isEmpty.fulfill() } else { try? worker.performLater(fulfillWhenEmpty) }
        }
        try worker.performLater(fulfillWhenEmpty)
        wait(for: [isEmpty], timeout: TestTimeout.seconds)
        try worker.stopAndWait()
        XCTAssertEqual(lines, ["posted 1", "later 1", "posted 2", "later 2", "posted 3", "later 3"])
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 3))
    }

    func testGuarantee02OrderedObserversOfTheSamePostAreCalledBeforePostReturns() throws {
        let observers = [
            observe("later", .later), observe("ordered", .ordered), observe("at once", .atOnce),
            observe("on the posting thread", on: .postingThread, .ordered), observe("another later", .later),
            observe("last", .ordered),
        ]
        let events = try tracing {
            XCTAssertEqual(post(1), DeliveryCounters(delivered: 4, waiting: 2))
        }
        XCTAssertEqual(lines, ["ordered 1", "at once 1", "on the posting thread 1", "last 1"])
        XCTAssertFalse(events.contains { $0.overtakes }, "its own post's deliveries are not overtaken")
        RunLoop.runCurrentOnce()
        XCTAssertEqual(lines.suffix(2), ["later 1", "another later 1"])
        XCTAssertEqual(observers.map(\.counters), Array(repeating: DeliveryCounters(delivered: 1), count: 6))
    }

    func testGuarantee02ThePostAfterALaterOneWaitsBehindIt() {
        let observers = [observe("later", .later), observe("ordered", .ordered)]
        XCTAssertEqual(post(1), DeliveryCounters(delivered: 1, waiting: 1))
        XCTAssertEqual(post(2), DeliveryCounters(waiting: 2))
        RunLoop.runCurrentOnce()
        XCTAssertEqual(lines, ["ordered 1", "later 1", "ordered 2", "later 2"])
        XCTAssertEqual(post(3), DeliveryCounters(delivered: 1, waiting: 1))
        XCTAssertEqual(observers.map(\.counters.waiting), [1, 0])
    }

    func testGuarantee04WhatAHandlerPostsComesAfterTheLaterDeliveryOfItsOwnPost() {
        for policy in [SameThreadPolicy.ordered, .atOnce] {
            log.withLock { $0 = [] }
            let center = center
            let observers = [
                observe("later", .later),
                observe("poster", policy) { value in if value == 1 { center.post(name: posted, object: 2) } },
            ]
            _ = post(1)
            // A run that polls returns after the first source.
            for _ in 1...2 { RunLoop.pollCurrent() }
            XCTAssertEqual(lines.filter { $0.hasPrefix("later") }, ["later 1", "later 2"], "\(policy)")
            for token in observers { token.cancel() }
        }
    }

    func testGuarantee04ARunLoopThatAHandlerRunsDeliversTheOthersFirstAndThenLaterOnes() {
        let observers = [
            observe("later", .later),
            observe("first", .ordered) { value in if value == 1 { RunLoop.runCurrentOnce() } },
            observe("second", .ordered),
        ]
        XCTAssertEqual(post(1), DeliveryCounters(delivered: 2, waiting: 1))
        XCTAssertEqual(lines, ["first 1", "second 1", "later 1"])
        XCTAssertEqual(observers.map(\.counters.delivered), [1, 1, 1])
    }

    func testGuarantee05APostOnAnotherThreadReachesAllInTheOrderInWhichTheyWereAdded() {
        let observers = [observe("later", .later), observe("ordered", .ordered), observe("last", .later)]
        Thread.posting(1) { [center] in center.post(name: posted, object: 1) }.wait()
        RunLoop.runCurrentOnce()
        XCTAssertEqual(lines, ["later 1", "ordered 1", "last 1"])
        XCTAssertEqual(observers.map(\.counters.delivered), [1, 1, 1])
    }

    func testGuarantee05ALaterObserversTransformPostsBeforeTheNotification() {
        let center = center
        let later = center.addObserver(
            forName: posted, on: .main, options: ObserverOptions(sameThread: .later),
            transform: { notification -> Int? in
                if notification.object as? Int == 2 { center.post(name: posted, object: 1) }
                return notification.object as? Int
            }, using: { [log] value in log.withLock { $0.append("later \(value)") } })
        let ordered = observe("ordered", .ordered)
        XCTAssertEqual(post(2), DeliveryCounters(waiting: 2))
        RunLoop.runCurrentOnce()
        XCTAssertEqual(lines, ["ordered 1", "later 1", "ordered 2", "later 2"])
        XCTAssertEqual([later, ordered].map(\.counters.delivered), [2, 2])
    }

    func testGuarantee05WhatALaterObserversTransformPostsReachesOrderedObserversFirst() {
        let center = center
        let ordered = observe("ordered", .ordered)
        let later = center.addObserver(
            forName: posted, on: .main, options: ObserverOptions(sameThread: .later),
            transform: { [log] notification -> Int? in
                guard notification.object as? Int == 2 else { return nil }
                try? TargetThread.main.performLater { log.withLock { $0.append("block") } }
                center.post(name: posted, object: 1)
                return 2
            }, using: { [log] value in log.withLock { $0.append("later \(value)") } })
        let other = observe("other", .ordered)
        XCTAssertEqual(post(2), DeliveryCounters(waiting: 3))
        RunLoop.runCurrentOnce()
        XCTAssertEqual(lines, ["block", "ordered 1", "other 1", "ordered 2", "other 2", "later 2"])
        XCTAssertEqual([later, ordered, other].map(\.counters.delivered), [1, 2, 2])
    }

    // MARK: With other options

    func testPostAndWaitDeliversWhatWaitsAndDoesNotWaitForALaterObserverOfItsOwnThread() throws {
        let worker = try RunLoopThread.started("worker")
        let observers = [
            observe("later", .later), observe("ordered", .ordered), observe("worker", on: worker, .later),
        ]
        _ = post(1)
        let report = try center.postAndWait(Notification(name: posted, object: 2), timeout: timeout)
        XCTAssertEqual(report, DeliveryCounters(delivered: 2, waiting: 1))
        XCTAssertEqual(lines.filter { !$0.hasPrefix("worker") }, ["ordered 1", "later 1", "ordered 2"])
        RunLoop.runCurrentOnce()
        try worker.stopAndWait()
        XCTAssertEqual(lines.last { !$0.hasPrefix("worker") }, "later 2")
        XCTAssertEqual(observers.map(\.counters), Array(repeating: DeliveryCounters(delivered: 2), count: 3))
    }

    func testALaterObserversOverflowPolicyLimitsWhatWaitsOnItsOwnThreadToo() {
        let observers = [
            observe("one", .later, overflow: .dropOldest(capacity: 1)),
            observe("two", .later, overflow: .dropNewest(capacity: 2)),
        ]
        XCTAssertEqual((1...3).map { post($0).dropped }, [0, 0, 1])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(lines, ["two 1", "two 2", "one 3"])
        XCTAssertEqual(
            observers.map(\.counters), [.init(delivered: 1, dropped: 2), .init(delivered: 2, dropped: 1)])
    }

    func testALaterDeliveryToARemovedObserverIsCancelledAndToAStoppedThreadTargetGone() throws {
        let removed = observe("removed", .later)
        XCTAssertEqual(post(1), DeliveryCounters(waiting: 1))
        removed.cancel()
        RunLoop.runCurrentOnce()
        XCTAssertEqual(removed.counters, DeliveryCounters(cancelled: 1))

        let worker = try RunLoopThread.started("worker")
        let center = center
        let token = observe("later", on: worker, .later)
        try worker.performAndWait(timeout: timeout) {
            worker.stop()
            XCTAssertEqual(center.post(name: posted, object: 2), DeliveryCounters(targetGone: 1))
            XCTAssertThrowsError(try worker.performLater {}) {
                XCTAssertEqual($0 as? DeliveryError, .threadStopped(thread: "worker"))
            }
        }
        try worker.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(token.counters, DeliveryCounters(targetGone: 1))
        XCTAssertEqual(lines, [])
    }

    func testALaterObserverOfValuesIsEnqueuedBeforeHandlersAreCalled() {
        let (observers, log) = (ValueObservers(), log)
        let location = ThreadedNotifications.SourceLocation("test", 0)
        let handles = Locked<[ValueObservers.Handle]>([])
        func add(_ name: String, _ policy: SameThreadPolicy, posts: Bool = false) -> ObserverToken {
            let (token, handle) = observers.add(
                named: posted, options: ObserverOptions(sameThread: policy), at: location,
                using: .onMain { (value: Int) in
                    log.withLock { $0.append("\(name) \(value)") }
                    if posts, value == 1 { observers.deliver(2, named: posted, to: handles.withLock { $0 }) }
                })
            handles.withLock { $0.append(handle) }
            return token
        }
        let tokens = [add("later", .later), add("ordered", .ordered, posts: true), add("last", .later)]
        observers.deliver(1, named: posted, to: handles.withLock { $0 })
        XCTAssertEqual(lines, ["ordered 1"])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(lines, ["ordered 1", "later 1", "last 1", "later 2", "last 2", "ordered 2"])
        XCTAssertEqual(tokens.map(\.counters.delivered), [2, 2, 2])
    }

    // MARK: Blocks

    func testABlockPerformedLaterComesAfterTheCallAndAfterEverythingThatWaits() throws {
        let log = log
        Thread.posting(1) { try? TargetThread.main.perform { log.withLock { $0.append("1") } } }.wait()
        try TargetThread.main.performLater {
            log.withLock { $0.append("2") }
            try? TargetThread.main.performLater { log.withLock { $0.append("3") } }
            log.withLock { $0.append("2 ends") }
        }
        XCTAssertEqual(lines, [])
        XCTAssertTrue(RunLoop.runCurrent { self.lines.count == 4 })
        XCTAssertEqual(lines, ["1", "2", "2 ends", "3"])
    }

    func testABlockPerformedLaterOnThePostingThreadIsPerformedOnTheCallingThread() throws {
        let log = log
        Thread.posting(1) {
            let thread = ThreadIdentity.current
            try? TargetThread.postingThread.performLater {
                log.withLock { $0.append("performed") }
                XCTAssertEqual(ThreadIdentity.current, thread)
            }
            log.withLock { $0.append("returned") }
            RunLoop.runCurrentOnce()
        }.wait()
        XCTAssertEqual(lines, ["returned", "performed"])
        let unstarted = RunLoopThread(name: "unstarted")
        XCTAssertThrowsError(try unstarted.performLater {}) {
            XCTAssertEqual($0 as? DeliveryError, .threadNotStarted(thread: "unstarted"))
        }
    }

    // MARK: Random sequences

    func testEachObserverIsCalledOnceForEachPostInOrderAndLaterOnesNotInAPost() {
        for seed in 0..<TestRounds.rounds(15, stress: 60) as Range<UInt64> {
            let random = Locked(SeededGenerator(seed: seed))
            @Sendable func once(in number: Int) -> Bool { random.withLock { $0.once(in: number) } }
            let center = ThreadedNotificationCenter()
            let last = Locked(0)
            /// The number of posts under way since a run loop began to run.
            let inPosts = Locked(0)
            @Sendable func postNext() {
                let post = last.withLock { last -> Int? in
                    guard last < 40 else { return nil }
                    last += 1
                    return last
                }
                inPosts.withLock { $0 += 1 }
                if let post { center.post(name: posted, object: post) }
                inPosts.withLock { $0 -= 1 }
            }
            @Sendable func run(_ body: () -> Void) {
                let before = inPosts.withLock { count in
                    defer { count = 0 }
                    return count
                }
                body()
                inPosts.withLock { $0 = before }
            }
            let calls = (0..<2 + Int(seed % 5)).map { _ in Locked<[Int]>([]) }
            let tokens = calls.map { calls in
                let policy: SameThreadPolicy = once(in: 2) ? .later : .ordered
                return center.addObserver(
                    forName: posted, on: .main, options: ObserverOptions(sameThread: policy), transform: number(of:)
                ) { value in
                    calls.withLock { $0.append(value) }
                    if policy == .later { XCTAssertEqual(inPosts.withLock { $0 }, 0, "seed \(seed)") }
                    // Posts of a handler are in no other post if the run loop called it.
                    for _ in 0..<2 where once(in: 3) { postNext() }
                    if once(in: 4) { run { RunLoop.runCurrentOnce() } }
                    if once(in: 8) { run { RunLoop.pollCurrent() } }
                }
            }
            while last.withLock({ $0 }) < 40 {
                postNext()
                if once(in: 2) { run { RunLoop.runCurrentOnce() } }
            }
            for _ in 0..<100 { run { RunLoop.runCurrentOnce() } }
            for calls in calls { XCTAssertEqual(calls.withLock { $0 }, Array(1...40), "seed \(seed)") }
            XCTAssertEqual(tokens.map(\.counters), tokens.map { _ in DeliveryCounters(delivered: 40) })
            for token in tokens { token.cancel() }
        }
    }
}
