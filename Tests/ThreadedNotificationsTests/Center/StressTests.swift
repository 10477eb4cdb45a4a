import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

/// Threads that post while others add and remove observers.
final class StressTests: XCTestCase {
    /// 2,000,000 with `STRESS=1`; otherwise fewer, because the thread sanitizer is slow.
    private var notifications: Int {
        TestRounds.rounds(16_000, stress: 2_000_000)
    }

    func testEveryOutcomeIsCountedAndNoneIsOnTheWrongThreadOutOfOrderOrAfterRemoval() throws {
        let timeout = Duration.seconds(600)
        let center = ThreadedNotificationCenter()
        let names = (0..<4).map { Notification.Name("stress \($0)") }
        let threads = (0..<4).map { RunLoopThread(name: "target \($0)") }
        for thread in threads { try thread.start() }
        let posters = 8
        let perPoster = notifications / posters
        let faults = Locked<[String]>([])
        let removed = Locked<[ObserverToken]>([])
        let isOver = Atomic<Bool>(false)

        @Sendable func observe(_ index: Int) -> (token: ObserverToken, isRemoved: @Sendable () -> Void) {
            let thread = threads[index % threads.count]
            let target = thread.identity?.number
            let last = Locked(Array(repeating: -1, count: posters))
            let isRemoved = Atomic<Bool>.Box(false)
            let token = center.addObserver(
                forName: names[index % names.count], on: thread,
                transform: { $0.object as? Int },
                using: { value in
                    let (poster, number) = (value / 10_000_000, value % 10_000_000)
                    if ThreadIdentity.current.number != target { faults.withLock { $0.append("wrong thread") } }
                    if isRemoved.value.load(ordering: .acquiring) { faults.withLock { $0.append("after removal") } }
                    let before = last.withLock { last in
                        defer { last[poster] = number }
                        return last[poster]
                    }
                    if before >= number { faults.withLock { $0.append("\(number) after \(before)") } }
                })
            return (token, { isRemoved.value.store(true, ordering: .releasing) })
        }

        let steady = (0..<8).map { observe($0) }
        let posting = DispatchGroup()
        for poster in 0..<posters {
            posting.enter()
            Thread.detachNewThread {
                for number in 0..<perPoster {
                    center.post(name: names[number % names.count], object: poster * 10_000_000 + number)
                }
                posting.leave()
            }
        }
        let changers = DispatchGroup()
        for changer in 0..<2 {
            changers.enter()
            Thread.detachNewThread {
                var round = changer
                // At least once, also if all is posted before this thread begins.
                repeat {
                    let observers = (0..<4).map { observe(round + $0) }
                    for (token, isRemoved) in observers {
                        do {
                            try token.cancelAndWait(timeout: TestTimeout.hang)
                            isRemoved()
                        } catch {
                            faults.withLock { $0.append("\(error)") }
                        }
                    }
                    round += 1
                    let tokens = observers.map(\.token)
                    removed.withLock { $0 += tokens }
                } while !isOver.load(ordering: .relaxed)
                changers.leave()
            }
        }
        XCTAssertEqual(posting.wait(timeout: .now() + .seconds(600)), .success)
        isOver.store(true, ordering: .relaxed)
        XCTAssertEqual(changers.wait(timeout: .now() + TestTimeout.seconds), .success)
        for thread in threads { thread.stop() }
        for thread in threads { try thread.waitUntilFinished(timeout: timeout) }

        XCTAssertEqual(faults.withLock { Array($0.prefix(5)) }, [])
        for (token, _) in steady {
            XCTAssertEqual(token.counters.total, posters * perPoster / names.count)
            XCTAssertEqual(token.counters.delivered, token.counters.total)
            XCTAssertEqual(token.counters.waiting, 0)
        }
        let removedCounters = removed.withLock { $0 }.map(\.counters)
        XCTAssertGreaterThan(removedCounters.count, 0)
        for counters in removedCounters {
            XCTAssertEqual(counters.waiting, 0)
            XCTAssertEqual(counters.total, counters.delivered + counters.cancelled)
        }
        print(
            "stress: \(removedCounters.count) observers were added and removed,",
            "with \(removedCounters.reduce(0) { $0 + $1.total }) deliveries")
    }
}
