import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let outer = Notification.Name("outer")

/// Handlers, transforms, jobs and tracers may use the center (guarantee 8).
final class ReentrancyTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testAHandlersPostDoesNotOvertakeThePostThatCalledIt() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let log = Locked<[String]>([])
        @Sendable func observe(_ name: String, _ thread: TargetThread, posts: Bool = false) -> ObserverToken {
            center.addObserver(
                forName: outer, on: thread, transform: { $0.object as? Int },
                using: { value in
                    log.withLock { $0.append("\(name) \(value)") }
                    if posts, value == 1 { center.post(name: outer, object: 2) }
                })
        }
        let tokens = [
            observe("first", .main, posts: true), observe("second", .main), observe("worker", worker.targetThread),
        ]
        let report = center.post(name: outer, object: 1)
        XCTAssertEqual(report, DeliveryCounters(delivered: 2, waiting: 1))
        RunLoop.runCurrentOnce()
        try worker.stopAndWait()
        XCTAssertEqual(
            log.withLock { $0.filter { !$0.hasPrefix("worker") } }, ["first 1", "second 1", "first 2", "second 2"])
        XCTAssertEqual(log.withLock { $0.filter { $0.hasPrefix("worker") } }, ["worker 1", "worker 2"])
        XCTAssertEqual(tokens.map(\.counters.delivered), [2, 2, 2])
    }

    func testAPostOfAnUnorderedObserversHandlerDoesNotOvertakeForAnOrderedObserver() {
        for sameThread in [SameThreadPolicy.ordered, .atOnce] {
            let center = ThreadedNotificationCenter()
            let log = Locked<[Int]>([])
            let plain = center.addObserver(
                forName: outer, on: sameThread == .ordered ? TargetThread.postingThread : .main,
                options: ObserverOptions(sameThread: sameThread), transform: { $0.object as? Int },
                using: { value in if value == 1 { center.post(name: outer, object: 2) } })
            let ordered = center.addObserver(
                forName: outer, on: .main, transform: { $0.object as? Int },
                using: { value in log.withLock { $0.append(value) } })
            center.post(name: outer, object: 1)
            RunLoop.runCurrentOnce()
            XCTAssertEqual(log.withLock { $0 }, [1, 2])
            plain.cancel()
            ordered.cancel()
        }
    }

    func testARunLoopThatAHandlerRunsDeliversToTheRemainingObservers() throws {
        let center = ThreadedNotificationCenter()
        let log = Locked<[String]>([])
        let first = center.addObserver(forName: outer, on: .main) { _ in
            RunLoop.runCurrentOnce()
            log.withLock { $0.append("first ends") }
        }
        let second = center.addObserver(forName: outer, on: .main) { _ in log.withLock { $0.append("second") } }
        let third = center.addObserver(forName: outer, on: .main) { _ in log.withLock { $0.append("third") } }
        XCTAssertEqual(center.post(name: outer), DeliveryCounters(delivered: 3))
        XCTAssertEqual(log.withLock { $0 }, ["second", "third", "first ends"])
        for token in [first, second, third] { token.cancel() }
    }

    func testAnAtOnceDeliveryThatOvertakesNothingIsNotMarked() throws {
        let center = ThreadedNotificationCenter()
        let tokens = [SameThreadPolicy.atOnce, .ordered, .ordered].map { policy in
            center.addObserver(forName: outer, on: .main, options: ObserverOptions(sameThread: policy)) { _ in }
        }
        let events = try tracing { center.post(name: outer) }
        XCTAssertEqual(events.filter { $0.stage == .deliver }.map(\.overtakes), [false, false, false])
        XCTAssertEqual(tokens.map(\.counters.delivered), [1, 1, 1])
    }

    func testOnePostReachesTenThousandObserversOfOneThread() {
        let center = ThreadedNotificationCenter()
        let called = Atomic<Int>.Box(0)
        let tokens = (0..<10_000).map { _ in
            center.addObserver(forName: outer, on: .main) { _ in called.value.add(1, ordering: .relaxed) }
        }
        XCTAssertEqual(center.post(name: outer).delivered, 10_000)
        XCTAssertEqual(called.value.load(ordering: .relaxed), tokens.count)
        RunLoop.runCurrentOnce()
    }

    func testTheOnlyObserverOfAThreadHandlesItsOwnPostsAtOnce() {
        let center = ThreadedNotificationCenter()
        let log = Locked<[Int]>([])
        let token = center.addObserver(
            forName: outer, on: .main, transform: { $0.object as? Int },
            using: { value in
                log.withLock { $0.append(value) }
                if value < 3 { center.post(name: outer, object: value + 1) }
                log.withLock { $0.append(-value) }
            })
        center.post(name: outer, object: 1)
        XCTAssertEqual(log.withLock { $0 }, [1, 2, 3, -3, -2, -1])
        token.cancel()
    }

    private actor Worker {
        private let thread: RunLoopThread
        private var isBusy = false
        private(set) var interleaved = 0

        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        init(_ thread: RunLoopThread) {
            self.thread = thread
        }

        /// It never suspends, so no other job of the actor may run before it returns.
        func work(_ body: @Sendable () -> Void) {
            if isBusy { interleaved += 1 }
            isBusy = true
            body()
            isBusy = false
        }
    }

    func testAnActorsJobsDoNotInterleaveWhenOneWaitsOrRunsTheRunLoop() throws {
        let worker = try RunLoopThread.started("worker")
        let actor = Worker(worker)
        let (timeout, done) = (timeout, expectation(description: "all done"))
        done.expectedFulfillmentCount = 6
        let (hasBegun, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        Task.immediate {
            await actor.work {
                hasBegun.signal()
                resume.wait()
                try? worker.performAndWait(timeout: timeout) {}
                RunLoop.runCurrentOnce()
            }
            done.fulfill()
        }
        hasBegun.wait()
        for _ in 0..<4 {
            Task.immediate {
                await actor.work { RunLoop.runCurrentOnce() }
                done.fulfill()
            }
        }
        resume.signal()
        Task {
            let interleaved = await actor.interleaved
            XCTAssertEqual(interleaved, 0)
            done.fulfill()
        }
        wait(for: [done], timeout: TestTimeout.seconds)
        try worker.stopAndWait()
    }

    func testATransformMayRemoveItsObserverAndWait() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let token = Locked<ObserverToken?>(nil)
        let error = Locked<String?>(nil)
        let observer = center.addObserver(
            forName: outer, on: worker,
            transform: { [timeout] notification -> Int? in
                do {
                    try token.withLock { $0 }?.cancelAndWait(timeout: timeout)
                } catch let failure {
                    error.withLock { $0 = "\(failure)" }
                }
                return 1
            }, using: { _ in })
        token.withLock { $0 = observer }
        XCTAssertEqual(center.post(name: outer).waiting, 1)
        try worker.stopAndWait()
        XCTAssertEqual(error.withLock { $0 }, nil)
        XCTAssertEqual(observer.counters, .init(cancelled: 1))
    }

    func testADeinitThatADrainCausesMayPostAndRunTheRunLoop() {
        final class Object {}
        let center = ThreadedNotificationCenter()
        let log = Locked<[String]>([])
        let tokens = ["first", "second"].map { name in
            center.addObserver(forName: outer, on: .main) { _ in log.withLock { $0.append(name) } }
        }
        var short: ThreadedNotificationCenter? = ThreadedNotificationCenter()
        let object = Object()
        for number in 0..<3 {
            let held = ReleaseRecorder {
                log.withLock { $0.append("released \(number)") }
                Thread.posting(1) { center.post(name: outer) }.wait()
                RunLoop.runCurrentOnce()
                center.post(name: outer)
            }
            short?.addObserver(object, forName: outer, on: .current) { _, _ in withExtendedLifetime(held) {} }
        }
        // The posting thread's block is released late, so it must not retain the center.
        let handedOver = Locked(short)
        Thread.posting(1) {
            let center = handedOver.withLock { kept in
                defer { kept = nil }
                return kept
            }
            for _ in 0..<200 { center?.post(name: outer) }
        }.wait()
        // Its observers are released with their last notification.
        short = nil
        XCTAssertEqual(log.withLock { $0 }, [])
        RunLoop.runCurrentOnce()
        let released = log.withLock { $0.filter { $0.hasPrefix("released") }.sorted() }
        XCTAssertEqual(released, ["released 0", "released 1", "released 2"])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(log.withLock { $0.count { $0 == "second" } }, 6)
        XCTAssertEqual(tokens.map(\.counters), Array(repeating: .init(delivered: 6), count: 2))
        withExtendedLifetime(object) {}
    }

    func testADeinitThatRemovingTheTracerCausesMayPost() {
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(forName: outer, on: .postingThread) { _ in }
        do {
            let held = ReleaseRecorder { center.post(name: outer) }
            DeliveryEvent.tracer = { _ in withExtendedLifetime(held) {} }
        }
        DeliveryEvent.tracer = nil
        XCTAssertEqual(token.counters.delivered, 1)
    }

    func testATracerIsCalledForManyEventsWithoutAGrowingStack() {
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(forName: outer, on: .postingThread) { _ in }
        let events = Atomic<Int>(0)
        DeliveryEvent.tracer = { _ in events.add(1, ordering: .relaxed) }
        defer { DeliveryEvent.tracer = nil }
        // The stack would overflow if each event added a closure around the tracer.
        for _ in 0..<5_000 { center.post(name: outer) }
        XCTAssertEqual(events.load(ordering: .relaxed), 15_000)
        token.cancel()
    }

    func testAHandlerThatIsReleasedOnAThreadDoesNotDelayAPostThere() throws {
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(forName: outer, on: .main) { _ in }
        let other = center.addObserver(forName: Notification.Name("other"), on: .current) { _ in }
        Thread.posting(1) { other.cancel() }.wait()
        XCTAssertEqual(center.post(name: outer).delivered, 1)
        RunLoop.runCurrentOnce()
        token.cancel()
    }
}
