import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted")

private let modal = RunLoop.Mode("modal")

private let other = RunLoop.Mode("other")

/// A post on the target thread is delivered at once only in its observers' modes, also if an earlier answer was kept.
final class ServedModesTests: XCTestCase {
    private let timeout = TestTimeout.hang

    /// Calls a block while the current thread's run loop runs in a mode.
    private static func run(in mode: RunLoop.Mode, _ body: @escaping @Sendable () -> Void) {
        let wasCalled = Atomic<Bool>.Box(false)
        RunLoop.addDueTimer(in: mode) {
            body()
            wasCalled.value.store(true, ordering: .relaxed)
        }
        // The first pass may only notice that the thread was woken.
        for _ in 0..<10 where !wasCalled.value.load(ordering: .relaxed) { RunLoop.pollCurrent(in: mode) }
        XCTAssertTrue(wasCalled.value.load(ordering: .relaxed), "\(mode)")
    }

    func testAnAnswerHoldsForItsModeOnlyAlsoInNestedRuns() {
        // Safety: only this thread uses it.
        nonisolated(unsafe) var servedModes = ServedModes()
        func contains(_ queue: Int, _ isServed: Bool) -> Bool { servedModes.contains(queue) { isServed } }
        // For each queue: the modes in which it is served.
        let served: [Set<RunLoop.Mode>] = [[.default, modal], [.default], [modal], [other], []]
        let modes: [RunLoop.Mode] = [.default, modal, other, modal, .default, .default, other]
        let modesOfQueues = (0..<200).map { served[$0 % served.count] }
        // Safety: only blocks that this thread's run loop calls use it.
        nonisolated(unsafe) let ask: (RunLoop.Mode) -> [Bool] = { mode in
            modesOfQueues.indices.map { contains($0, modesOfQueues[$0].contains(mode)) }
        }
        for mode in modes {
            Self.run(in: mode) {
                for _ in 0..<2 { XCTAssertEqual(ask(mode), modesOfQueues.map { $0.contains(mode) }, "\(mode)") }
                // A nested run.
                Self.run(in: modes[1]) {
                    XCTAssertEqual(ask(modal), modesOfQueues.map { $0.contains(modal) })
                }
                XCTAssertEqual(ask(mode), modesOfQueues.map { $0.contains(mode) }, "\(mode) again")
            }
        }
        // A queue that is not served may be served later in the same mode.
        XCTAssertFalse(contains(1000, false))
        XCTAssertTrue(contains(1000, true))
        XCTAssertFalse(contains(4, false))
        XCTAssertTrue(contains(4, true))
    }

    func testAnObserverIsCalledAtOnceInItsModesOnly() throws {
        let worker = try RunLoopThread.started("worker")
        try worker.performAndWait(timeout: timeout) {
            let center = ThreadedNotificationCenter()
            func observe(_ modes: Set<RunLoop.Mode>) -> ObserverToken {
                center.addObserver(
                    forName: posted, on: CurrentThread.current.targetThread, options: ObserverOptions(modes: modes)
                ) { _ in }
            }
            let tokens = [observe([.default]), observe([modal]), observe([.default, modal]), observe([.common])]
            let expected: [(mode: RunLoop.Mode, atOnce: [Int])] = [
                (.default, [1, 0, 1, 1]), (modal, [0, 1, 1, 0]), (other, [0, 0, 0, 0]), (modal, [0, 1, 1, 0]),
                (.default, [1, 0, 1, 1]), (other, [0, 0, 0, 0]), (.default, [1, 0, 1, 1]),
            ]
            for (mode, atOnce) in expected {
                Self.run(in: mode) {
                    let before = tokens.map(\.counters.delivered)
                    let report = center.post(name: posted)
                    let now = zip(tokens, before).map { $0.counters.delivered - $1 }
                    XCTAssertEqual(now, atOnce, "\(mode)")
                    XCTAssertEqual(report.delivered, atOnce.reduce(0, +))
                    XCTAssertEqual(report.waiting, 4 - report.delivered)
                }
                // Deliver the rest.
                for mode in [RunLoop.Mode.default, modal] { RunLoop.pollCurrent(in: mode) }
                XCTAssertEqual(tokens.map(\.counters.waiting), [0, 0, 0, 0])
            }
            XCTAssertEqual(tokens.map(\.counters.delivered), [7, 7, 7, 7])
        }
        try worker.stopAndWait()
    }

    func testMoreThanSixtyFourModeQueuesAreServedInTheirModes() throws {
        let worker = try RunLoopThread.started("worker")
        try worker.performAndWait(timeout: timeout) {
            let center = ThreadedNotificationCenter()
            let modes = (0..<150).map { RunLoop.Mode("mode \($0)") }
            // Every third observer also has the default mode. Answers are kept for 64 queues, which 3 does not divide.
            let tokens = modes.indices.map { index in
                center.addObserver(
                    forName: Notification.Name("\(index)"), on: CurrentThread.current.targetThread,
                    options: ObserverOptions(modes: index % 3 == 0 ? [modes[index], .default] : [modes[index]])
                ) { _ in }
            }
            for round in 1...2 {
                for index in modes.indices {
                    let report = center.post(name: Notification.Name("\(index)"))
                    XCTAssertEqual(
                        report, index % 3 == 0 ? DeliveryCounters(delivered: 1) : DeliveryCounters(waiting: 1))
                }
                for index in modes.indices {
                    Self.run(in: modes[index]) {
                        RunLoop.pollCurrent(in: modes[index])
                        XCTAssertEqual(tokens[index].counters.waiting, 0)
                        XCTAssertEqual(
                            center.post(name: Notification.Name("\(index)")), DeliveryCounters(delivered: 1), "\(index)"
                        )
                    }
                    XCTAssertEqual(tokens[index].counters.delivered, 2 * round)
                }
            }
        }
        try worker.stopAndWait()
    }

    func testAModeThatIsMadeCommonLaterServesObserversOfTheCommonModes() throws {
        let worker = try RunLoopThread.started("worker")
        try worker.performAndWait(timeout: timeout) {
            let center = ThreadedNotificationCenter()
            let token = center.addObserver(forName: posted, on: CurrentThread.current.targetThread) { _ in }
            Self.run(in: modal) {
                for _ in 0..<2 { XCTAssertEqual(center.post(name: posted), DeliveryCounters(waiting: 1)) }
                RunLoop.makeCommonInCurrent(modal)
                RunLoop.pollCurrent(in: modal)
                XCTAssertEqual(token.counters, .init(delivered: 2))
                XCTAssertEqual(center.post(name: posted), DeliveryCounters(delivered: 1))
            }
        }
        try worker.stopAndWait()
    }

    func testAPostDuringTheEndOfItsTargetThreadIsTargetGoneAlsoAfterEarlierPosts() {
        for wasPosted in [false, true] {
            let center = ThreadedNotificationCenter()
            let tokens = Locked<[ObserverToken]>([])
            let report = Locked<DeliveryCounters?>(nil)
            Thread.posting(1) {
                let token = center.addObserver(forName: posted, on: CurrentThread.current.targetThread) { _ in }
                tokens.withLock { $0.append(token) }
                if wasPosted { XCTAssertEqual(center.post(name: posted), DeliveryCounters(delivered: 1)) }
                Thread.posting(1) {
                    // The notification waits for this thread, which runs no run loop, and is released at its end.
                    let held = ReleaseRecorder {
                        let last = center.post(name: posted)
                        report.withLock { $0 = last }
                    }
                    XCTAssertEqual(center.post(name: posted, userInfo: ["held": held]), DeliveryCounters(waiting: 1))
                }.wait()
            }.wait()
            let timeout = SuspendingClock.now + TestTimeout.hang
            while report.withLock({ $0 }) == nil, SuspendingClock.now < timeout { sched_yield() }
            XCTAssertEqual(report.withLock { $0 }, DeliveryCounters(targetGone: 1), "posted before: \(wasPosted)")
            let before = wasPosted ? 1 : 0
            XCTAssertEqual(
                tokens.withLock { $0.first }?.counters, .init(delivered: before, targetGone: 2))
        }
    }
}
