import CControl
import DeliveryDiagnostics
import Dispatch
import SharedTesting
import Testing
import ThreadedNotifications

@testable import DeliveryBenchmarks

/// Subjects detect notifications that are not handled, or handled twice.
@Suite("Subjects")
struct SubjectTests {
    /// A channel that posts `surplus` notifications too many; too few if it is negative.
    private func channel(_ surplus: Int, _ arrivals: Arrivals) -> Channel {
        Channel(
            post: { count in
                for _ in 0..<count + surplus { for target in arrivals.targets { target.arrive() } }
            }, end: {})
    }

    @Test("a notification that is not handled in time is an error, and the threads end")
    func lost() throws {
        let places = BenchmarkPlaces(limit: .milliseconds(1))
        let subject = try BurstSubject(posters: 1, targets: 2, places) { arrivals, _ in channel(-1, arrivals) }
        #expect(throws: BenchmarkError.timedOut(waitingFor: "what was posted to be handled", after: .milliseconds(1))) {
            try subject.measure(10)
        }
        try subject.end()
    }

    @Test("a notification that is handled twice is an error")
    func handledTwice() throws {
        let subject = try BurstSubject(posters: 1, BenchmarkPlaces()) { arrivals, _ in channel(1, arrivals) }
        #expect(throws: BenchmarkError.miscounted(handled: 11, posted: 10)) { try subject.measure(10) }
        try subject.end()
    }

    @Test("posters divide the posts, and post all of them", arguments: [1, 2, 4, 8])
    func shares(posters: Int) throws {
        let shares = Locked<[Int]>([])
        let threads = try PosterThreads(posters, core: nil) { share in shares.withLock { $0.append(share) } }
        for operations in [0, 1, 7, 64] {
            threads.post(operations)
            try threads.wait(limit: TestTimeout.hang)
            let posted = shares.withLock { shares in
                defer { shares = [] }
                return shares
            }
            #expect(posted.count == posters)
            #expect(posted.reduce(0, +) == operations)
            #expect(posted.max()! - posted.min()! <= 1)
        }
        threads.end()
    }

    @Test("a call that handles nothing is an error")
    func callWithoutArrival() throws {
        let arrivals = Arrivals()
        let subject = TimedCalls(arrivals, perform: {}, end: {})
        #expect(throws: BenchmarkError.self) { try subject.measure(3) }
    }
}

@Suite("The control")
struct ControlTests {
    @Test("the baseline's queue handles the words of several threads once each, in each thread's order")
    func order() throws {
        let seen = UnsafeMutablePointer<[UInt]>.allocate(capacity: 1)
        seen.initialize(to: [])
        defer {
            seen.deinitialize(count: 1)
            seen.deallocate()
        }
        let made = CControlQueueCreate({ $0!.assumingMemoryBound(to: [UInt].self).pointee.append($1) }, seen)
        let queue = try #require(made)
        // Safety: the queue takes words from any thread.
        nonisolated(unsafe) let shared = queue
        #expect(CControlQueueStart(queue, -1) == 0)
        let (posters, each) = (4, 5000)
        DispatchQueue.concurrentPerform(iterations: posters) { poster in
            for word in 0..<each { CControlQueueAppend(shared, UInt(poster * each + word)) }
        }
        // Waits for the thread, which first handles the remaining words.
        CControlQueueDestroy(queue)
        #expect(seen.pointee.count == posters * each)
        for poster in 0..<posters {
            let own = seen.pointee.filter { Int($0) / each == poster }
            #expect(own == (0..<each).map { UInt(poster * each + $0) })
        }
    }

    @Test("a queue without a thread keeps its words until it has one")
    func held() throws {
        let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        count.initialize(to: 0)
        defer { count.deallocate() }
        let made = CControlQueueCreate({ context, _ in context!.assumingMemoryBound(to: Int.self).pointee += 1 }, count)
        let queue = try #require(made)
        for word in 0..<100 { CControlQueueAppend(queue, UInt(word)) }
        #expect(count.pointee == 0)
        #expect(CControlQueueStart(queue, -1) == 0)
        CControlQueueDestroy(queue)
        #expect(count.pointee == 100)
    }

    @Test("the baseline fails too if it is not finished in time, and its threads end", .timeLimit(.minutes(1)))
    func late() throws {
        let places = BenchmarkPlaces(limit: .nanoseconds(1))
        for workload in [
            Burst.workload(posters: 2), Backlog.workload(millions: 1), RoundTrip.workload, Waiting.workload,
        ] {
            let control = try #require(workload.contenders.first { $0.name == workload.control })
            let subject = try control.make(places)
            do {
                _ = try subject.measure(20_000)
                Issue.record("\(workload.name) took no time")
            } catch {
                guard case BenchmarkError.timedOut(_, .nanoseconds(1)) = error else {
                    Issue.record("\(workload.name): \(error)")
                    continue
                }
            }
            try subject.end()
        }
    }

    @Test("a queue that never had a thread is destroyed with its words")
    func neverStarted() throws {
        let made = CControlQueueCreate({ _, _ in }, nil)
        let queue = try #require(made)
        for word in 0..<100 { CControlQueueAppend(queue, UInt(word)) }
        CControlQueueDestroy(queue)
    }
}
