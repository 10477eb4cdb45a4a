import Foundation
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted")

private let modal = RunLoop.Mode("modal")

private let other = RunLoop.Mode("other")

/// What is posted on its own thread is delivered at once only in the modes of its lane, whatever was remembered before.
final class ServedModesTests: XCTestCase {
    private let limit = TestLimit.hang

    /// Calls a block in the middle of the current thread's run loop, in a mode.
    private static func run(in mode: RunLoop.Mode, _ body: @escaping @Sendable () -> Void) {
        let wasCalled = Atomic<Bool>.Box(false)
        RunLoop.addDueTimer(in: mode) {
            body()
            wasCalled.value.store(true, ordering: .relaxed)
        }
        // The first pass may do no more than notice that the thread was woken.
        for _ in 0..<10 where !wasCalled.value.load(ordering: .relaxed) { RunLoop.pollCurrent(in: mode) }
        XCTAssertTrue(wasCalled.value.load(ordering: .relaxed), "\(mode)")
    }

    func testTheAnswerIsThatOfTheModeAlsoAfterItChangedAndBack() {
        // Safety: only this thread uses it.
        nonisolated(unsafe) var lanes = ServedModes()
        func contains(_ lane: Int, _ isServed: Bool) -> Bool { lanes.contains(lane) { isServed } }
        // Lane by lane: in which modes it is served.
        let served: [Set<RunLoop.Mode>] = [[.default, modal], [.default], [modal], [other], []]
        let modes: [RunLoop.Mode] = [.default, modal, other, modal, .default, .default, other]
        let lanesInAll = (0..<200).map { served[$0 % served.count] }
        // Safety: only what this thread's run loop calls uses it.
        nonisolated(unsafe) let ask: (RunLoop.Mode) -> [Bool] = { mode in
            lanesInAll.indices.map { contains($0, lanesInAll[$0].contains(mode)) }
        }
        for mode in modes {
            Self.run(in: mode) {
                for _ in 0..<2 { XCTAssertEqual(ask(mode), lanesInAll.map { $0.contains(mode) }, "\(mode)") }
                // One in the middle of the other.
                Self.run(in: modes[1]) {
                    XCTAssertEqual(ask(modal), lanesInAll.map { $0.contains(modal) })
                }
                XCTAssertEqual(ask(mode), lanesInAll.map { $0.contains(mode) }, "\(mode) again")
            }
        }
        // One that is not served may be later, in the same mode.
        XCTAssertFalse(contains(1000, false))
        XCTAssertTrue(contains(1000, true))
        XCTAssertFalse(contains(4, false))
        XCTAssertTrue(contains(4, true))
    }

    func testAnObserverIsCalledAtOnceInItsModesOnly() throws {
        let worker = try RunLoopThread.started("worker")
        try worker.performAndWait(timeout: limit) {
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
                // So that nothing waits.
                for mode in [RunLoop.Mode.default, modal] { RunLoop.pollCurrent(in: mode) }
                XCTAssertEqual(tokens.map(\.counters.waiting), [0, 0, 0, 0])
            }
            XCTAssertEqual(tokens.map(\.counters.delivered), [7, 7, 7, 7])
        }
        try worker.stopAndWait()
    }

    func testMoreThanSixtyFourLanesAreEachServedInTheirModes() throws {
        let worker = try RunLoopThread.started("worker")
        try worker.performAndWait(timeout: limit) {
            let center = ThreadedNotificationCenter()
            let modes = (0..<150).map { RunLoop.Mode("mode \($0)") }
            // Every third one in the default mode too; not every second, for what is remembered has 64 places.
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

    func testAModeThatIsMadeCommonLaterServesThoseOfTheCommonModes() throws {
        let worker = try RunLoopThread.started("worker")
        try worker.performAndWait(timeout: limit) {
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

    func testWhatIsPostedOnAThreadWhileItEndsHasLostItsTargetWhateverWasPostedThereBefore() {
        for wasPosted in [false, true] {
            let center = ThreadedNotificationCenter()
            let tokens = Locked<[ObserverToken]>([])
            let report = Locked<DeliveryCounters?>(nil)
            Thread.posting(1) {
                let token = center.addObserver(forName: posted, on: CurrentThread.current.targetThread) { _ in }
                tokens.withLock { $0.append(token) }
                if wasPosted { XCTAssertEqual(center.post(name: posted), DeliveryCounters(delivered: 1)) }
                Thread.posting(1) {
                    // Waits for this thread, which never runs its run loop, and is released when it ends.
                    let held = ReleaseRecorder {
                        let last = center.post(name: posted)
                        report.withLock { $0 = last }
                    }
                    XCTAssertEqual(center.post(name: posted, userInfo: ["held": held]), DeliveryCounters(waiting: 1))
                }.wait()
            }.wait()
            let limit = ContinuousClock.now + TestLimit.hang
            while report.withLock({ $0 }) == nil, ContinuousClock.now < limit { sched_yield() }
            XCTAssertEqual(report.withLock { $0 }, DeliveryCounters(targetGone: 1), "posted before: \(wasPosted)")
            let before = wasPosted ? 1 : 0
            XCTAssertEqual(
                tokens.withLock { $0.first }?.counters, .init(delivered: before, targetGone: 2))
        }
    }
}
