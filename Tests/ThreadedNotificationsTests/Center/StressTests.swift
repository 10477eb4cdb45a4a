import Foundation
import Synchronization
import XCTest

@testable import ThreadedNotifications

/// Posters, threads and observers that come and go, all at once: the guarantees hold together.
final class StressTests: XCTestCase {
    /// 2,000,000 with `STRESS=1`; a smaller run otherwise, which the thread sanitizer has as well.
    private var notifications: Int {
        ProcessInfo.processInfo.environment["STRESS"] == nil ? 40_000 : 2_000_000
    }

    func testEveryFateIsAccountedForAndNothingIsMisplacedReorderedOrDeliveredAfterRemoval() throws {
        let limit = Duration.seconds(600)
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
            let number = thread.identity?.number
            let last = Locked(Array(repeating: -1, count: posters))
            let isRemoved = Atomic<Bool>.Box(false)
            let token = center.addObserver(
                forName: names[index % names.count], on: thread,
                transform: { $0.object as? Int },
                using: { value in
                    let (poster, place) = (value / 10_000_000, value % 10_000_000)
                    if ThreadIdentity.current.number != number { faults.withLock { $0.append("wrong thread") } }
                    if isRemoved.value.load(ordering: .acquiring) { faults.withLock { $0.append("after removal") } }
                    let before = last.withLock { last in
                        defer { last[poster] = place }
                        return last[poster]
                    }
                    if before >= place { faults.withLock { $0.append("\(place) after \(before)") } }
                })
            return (token, { isRemoved.value.store(true, ordering: .releasing) })
        }

        let steady = (0..<8).map { observe($0) }
        let started = DispatchGroup()
        for poster in 0..<posters {
            started.enter()
            Thread.detachNewThread {
                for place in 0..<perPoster {
                    center.post(name: names[place % names.count], object: poster * 10_000_000 + place)
                }
                started.leave()
            }
        }
        let changers = DispatchGroup()
        for changer in 0..<2 {
            changers.enter()
            Thread.detachNewThread {
                var round = changer
                // Once also where the posters are done before this thread begins.
                repeat {
                    let observers = (0..<4).map { observe(round + $0) }
                    for (token, isRemoved) in observers {
                        do {
                            try token.cancelAndWait(timeout: TestLimit.hang)
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
        XCTAssertEqual(started.wait(timeout: .now() + .seconds(600)), .success)
        isOver.store(true, ordering: .relaxed)
        XCTAssertEqual(changers.wait(timeout: .now() + TestLimit.seconds), .success)
        for thread in threads { thread.stop() }
        for thread in threads { try thread.waitUntilFinished(timeout: limit) }

        XCTAssertEqual(faults.withLock { Array($0.prefix(5)) }, [])
        for (token, _) in steady {
            XCTAssertEqual(token.counters.total, posters * perPoster / names.count)
            XCTAssertEqual(token.counters.delivered, token.counters.total)
            XCTAssertEqual(token.counters.waiting, 0)
        }
        let churned = removed.withLock { $0 }.map(\.counters)
        XCTAssertGreaterThan(churned.count, 0)
        for counts in churned {
            XCTAssertEqual(counts.waiting, 0)
            XCTAssertEqual(counts.total, counts.delivered + counts.cancelled)
        }
        print(
            "stress: \(churned.count) observers came and went, \(churned.reduce(0) { $0 + $1.total }) posted to them")
    }
}

extension Atomic {
    /// An atomic that closures may share.
    final class Box: Sendable where Value: Sendable {
        let value: Atomic<Value>

        init(_ value: consuming Value) {
            self.value = Atomic(value)
        }
    }
}
