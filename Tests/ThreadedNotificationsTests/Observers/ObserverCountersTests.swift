import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted")

/// Counters are exact, also if several threads count at the same time (guarantee 14).
final class ObserverCountersTests: XCTestCase {
    private let threads = 6
    private let posts = TestRounds.rounds(1_000, stress: 10_000)

    func testThePostsOfSeveralThreadsAddUp() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let simple = center.addObserver(forName: posted, on: .postingThread) { _ in }
        let transformed = center.addObserver(
            forName: posted, on: .postingThread, transform: { ($0.object as? Int).flatMap { $0 % 2 == 0 ? $0 : nil } },
            using: { _ in })
        let across = center.addObserver(forName: posted, on: worker) { _ in }
        let posts = posts
        Thread.posting(threads) { for number in 0..<posts { center.post(name: posted, object: number) } }.wait()
        try worker.stopAndWait()
        let all = threads * posts
        XCTAssertEqual(simple.counters, .init(delivered: all))
        XCTAssertEqual(transformed.counters, .init(delivered: all / 2))
        XCTAssertEqual(across.counters, .init(delivered: all))
    }

    func testCountersReadDuringPostsNeverDecreaseAndNothingWaits() {
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(forName: posted, on: .postingThread) { _ in }
        let isOver = Atomic<Bool>.Box(false)
        let faults = Locked<[String]>([])
        let reader = Thread.posting(1) {
            var last = 0
            while !isOver.value.load(ordering: .acquiring) {
                let counters = token.counters
                if counters.delivered < last || counters.waiting != 0 || counters.total != counters.delivered {
                    faults.withLock { $0.append("\(counters) after \(last)") }
                }
                last = counters.delivered
            }
        }
        let posts = posts
        Thread.posting(threads) { for _ in 0..<posts { center.post(name: posted) } }.wait()
        isOver.value.store(true, ordering: .releasing)
        reader.wait()
        XCTAssertEqual(faults.withLock { $0 }, [])
        XCTAssertEqual(token.counters, .init(delivered: threads * posts))
    }

    func testTheCountersOfAnObserverRemovedDuringPostsEqualItsHandlersCalls() {
        let center = ThreadedNotificationCenter()
        for _ in 0..<200 {
            let (calls, reported) = (Atomic<Int>.Box(0), Atomic<Int>.Box(0))
            let token = center.addObserver(forName: posted, on: .postingThread) { _ in
                calls.value.add(1, ordering: .relaxed)
            }
            let posting = Thread.posting(3) {
                for _ in 0..<20 { reported.value.add(center.post(name: posted).delivered, ordering: .relaxed) }
            }
            token.cancel()
            posting.wait()
            let called = calls.value.load(ordering: .relaxed)
            XCTAssertEqual(token.counters, .init(delivered: called))
            XCTAssertEqual(reported.value.load(ordering: .relaxed), called)
        }
    }

    func testHandlersCountedInTheStateAndInTheCountersAddUp() {
        let counters = ObserverCounters()
        var state = ObserverState.registered
        for _ in 0..<5 { state = (state.begunAtOnce ?? state).ended }
        XCTAssertEqual(counters.read(state), .init(delivered: 5))
        counters.countAtOnce(ObserverState.many)
        counters.countEnqueued()
        let all = ObserverState.many + 5
        XCTAssertEqual(counters.read(state), .init(delivered: all, waiting: 1))
        counters.countDelivered()
        XCTAssertEqual(counters.read(state), .init(delivered: all + 1))
    }
}
