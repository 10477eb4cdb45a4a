import CControl
import DeliveryDiagnostics
import Dispatch
import SharedTesting
import ThreadedNotifications
import XCTest

@testable import DeliveryBenchmarks

/// Subjects detect notifications that are not handled, or handled twice.
final class SubjectTests: XCTestCase {
    /// A channel that posts `surplus` notifications too many; too few if it is negative.
    private func channel(_ surplus: Int, _ arrivals: Arrivals) -> Channel {
        Channel(
            post: { count in
                for _ in 0..<count + surplus { for target in arrivals.targets { target.arrive() } }
            }, end: {})
    }

    func testANotificationThatIsNotHandledInTimeIsAnErrorAndTheThreadsEnd() throws {
        let conditions = BenchmarkConditions(timeout: .milliseconds(1))
        let subject = try BurstSubject(posters: 1, targets: 2, conditions) { arrivals, _ in channel(-1, arrivals) }
        assertThrows(BenchmarkError.timedOut(waitingFor: "what was posted to be handled", after: .milliseconds(1))) {
            try subject.measure(10)
        }
        try subject.end()
    }

    func testANotificationThatIsHandledTwiceIsAnError() throws {
        let subject = try BurstSubject(posters: 1, BenchmarkConditions()) { arrivals, _ in channel(1, arrivals) }
        assertThrows(BenchmarkError.miscounted(handled: 11, posted: 10)) { try subject.measure(10) }
        try subject.end()
    }

    func testPostersDivideThePostsAndPostAllOfThem() throws {
        for posters in [1, 2, 4, 8] { try shares(posters: posters) }
    }

    private func shares(posters: Int) throws {
        let shares = Locked<[Int]>([])
        let threads = try PosterThreads(posters, core: nil) { share in shares.withLock { $0.append(share) } }
        for operations in [0, 1, 7, 64] {
            threads.post(operations)
            try threads.wait(timeout: TestTimeout.hang)
            let posted = shares.withLock { shares in
                defer { shares = [] }
                return shares
            }
            XCTAssertEqual(posted.count, posters)
            XCTAssertEqual(posted.reduce(0, +), operations)
            XCTAssertLessThanOrEqual(posted.max()! - posted.min()!, 1)
        }
        threads.end()
    }

    func testACallThatHandlesNothingIsAnError() throws {
        let arrivals = Arrivals()
        let subject = TimedCalls(arrivals, perform: {}, end: {})
        assertThrows(BenchmarkError.self) { try subject.measure(3) }
    }
}

final class ControlTests: XCTestCase {
    func testTheBaselinesQueueHandlesTheWordsOfSeveralThreadsOnceEachInEachThreadsOrder() throws {
        let seen = UnsafeMutablePointer<[UInt]>.allocate(capacity: 1)
        seen.initialize(to: [])
        defer {
            seen.deinitialize(count: 1)
            seen.deallocate()
        }
        let made = CControlQueueCreate({ $0!.assumingMemoryBound(to: [UInt].self).pointee.append($1) }, seen)
        let queue = try XCTUnwrap(made)
        // Safety: the queue takes words from any thread.
        nonisolated(unsafe) let shared = queue
        XCTAssertEqual(CControlQueueStart(queue, -1), 0)
        let (posters, each) = (4, 5000)
        DispatchQueue.concurrentPerform(iterations: posters) { poster in
            for word in 0..<each { CControlQueueAppend(shared, UInt(poster * each + word)) }
        }
        // Waits for the thread, which first handles the remaining words.
        CControlQueueDestroy(queue)
        XCTAssertEqual(seen.pointee.count, posters * each)
        for poster in 0..<posters {
            let own = seen.pointee.filter { Int($0) / each == poster }
            XCTAssertEqual(own, (0..<each).map { UInt(poster * each + $0) })
        }
    }

    func testAQueueWithoutAThreadKeepsItsWordsUntilItHasOne() throws {
        let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        count.initialize(to: 0)
        defer { count.deallocate() }
        let made = CControlQueueCreate({ context, _ in context!.assumingMemoryBound(to: Int.self).pointee += 1 }, count)
        let queue = try XCTUnwrap(made)
        for word in 0..<100 { CControlQueueAppend(queue, UInt(word)) }
        XCTAssertEqual(count.pointee, 0)
        XCTAssertEqual(CControlQueueStart(queue, -1), 0)
        CControlQueueDestroy(queue)
        XCTAssertEqual(count.pointee, 100)
    }

    func testTheBaselineFailsTooIfItIsNotFinishedInTimeAndItsThreadsEnd() throws {
        let conditions = BenchmarkConditions(timeout: .nanoseconds(1))
        for workload in [
            Burst.workload(posters: 2), Backlog.workload(millions: 1), RoundTrip.workload, Waiting.workload,
        ] {
            let control = try XCTUnwrap(workload.contenders.first { $0.name == workload.control })
            let subject = try control.make(conditions)
            do {
                _ = try subject.measure(20_000)
                XCTFail("\(workload.name) took no time")
            } catch {
                guard case BenchmarkError.timedOut(_, .nanoseconds(1)) = error else {
                    XCTFail("\(workload.name): \(error)")
                    continue
                }
            }
            try subject.end()
        }
    }

    func testAQueueThatNeverHadAThreadIsDestroyedWithItsWords() throws {
        let made = CControlQueueCreate({ _, _ in }, nil)
        let queue = try XCTUnwrap(made)
        for word in 0..<100 { CControlQueueAppend(queue, UInt(word)) }
        CControlQueueDestroy(queue)
    }
}
