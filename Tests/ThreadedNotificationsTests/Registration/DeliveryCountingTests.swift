import Foundation
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted")

/// Counts are exact, whoever counts at the same time (guarantee 14).
final class DeliveryCountingTests: XCTestCase {
    private let threads = 6
    private let posts = 10_000

    func testWhatSeveralThreadsPostToOneObserverAddsUp() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let simple = center.addObserver(forName: posted, on: .postingThread) { _ in }
        let mapped = center.addObserver(
            forName: posted, on: .postingThread, mapping: { ($0.object as? Int).flatMap { $0 % 2 == 0 ? $0 : nil } },
            using: { _ in })
        let across = center.addObserver(forName: posted, on: worker) { _ in }
        let posts = posts
        Thread.posting(threads) { for number in 0..<posts { center.post(name: posted, object: number) } }.wait()
        try worker.stopAndWait()
        let all = threads * posts
        XCTAssertEqual(simple.counts, .init(posted: all, delivered: all))
        XCTAssertEqual(mapped.counts, .init(posted: all / 2, delivered: all / 2))
        XCTAssertEqual(across.counts, .init(posted: all, delivered: all))
    }

    func testCountsThatAreReadMeanwhileNeverFallAndNothingIsPending() {
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(forName: posted, on: .postingThread) { _ in }
        let isOver = Atomic<Bool>.Box(false)
        let faults = Locked<[String]>([])
        let reader = Thread.posting(1) {
            var last = 0
            while !isOver.value.load(ordering: .acquiring) {
                let counts = token.counts
                if counts.delivered < last || counts.pending != 0 || counts.posted != counts.delivered {
                    faults.withLock { $0.append("\(counts) after \(last)") }
                }
                last = counts.delivered
            }
        }
        let posts = posts
        Thread.posting(threads) { for _ in 0..<posts { center.post(name: posted) } }.wait()
        isOver.value.store(true, ordering: .releasing)
        reader.wait()
        XCTAssertEqual(faults.withLock { $0 }, [])
        XCTAssertEqual(token.counts, .init(posted: threads * posts, delivered: threads * posts))
    }

    func testAnObserverThatIsRemovedWhileThreadsPostCountsItsHandlersCalls() {
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
            XCTAssertEqual(token.counts, .init(posted: called, delivered: called))
            XCTAssertEqual(reported.value.load(ordering: .relaxed), called)
        }
    }

    func testWhatTheWordCountsNoMoreIsCountedElsewhere() {
        let ledger = DeliveryLedger()
        var life = ObserverLife.registered
        for _ in 0..<5 { life = (life.begunAtOnce ?? life).ended }
        XCTAssertEqual(ledger.counts(life), .init(posted: 5, delivered: 5))
        ledger.countAtOnce(ObserverLife.many)
        ledger.countAppended()
        let all = ObserverLife.many + 5
        XCTAssertEqual(ledger.counts(life), .init(posted: all + 1, delivered: all, pending: 1))
        ledger.countDelivered()
        XCTAssertEqual(ledger.counts(life), .init(posted: all + 1, delivered: all + 1))
    }
}
