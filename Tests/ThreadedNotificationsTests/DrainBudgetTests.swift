import CoreFoundation
import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("posted in DrainBudgetTests")

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// Guarantee 11 with a budget: a drain returns to the run loop, which continues with the rest in order.
final class DrainBudgetTests: XCTestCase {
    private let timeout = TestTimeout.hang
    private let center = ThreadedNotificationCenter()
    private let log = Locked<[Int]>([])

    private var numbers: [Int] { log.withLock { $0 } }

    override func tearDown() {
        TargetThread.main.drainBudget = .unbounded
    }

    /// One pass through the main thread's run loop.
    private func makePass() {
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false)
    }

    /// Makes passes until a condition holds. Each pass should bring it nearer.
    private func makePasses(atMost: Int = 100_000, until isSo: () -> Bool) {
        for _ in 0..<atMost {
            if isSo() { return }
            makePass()
        }
        XCTFail("not after \(atMost) passes")
    }

    private func observe(
        on thread: some DeliveryTarget = .main, options: ObserverOptions = ObserverOptions(),
        then act: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> ObserverToken {
        center.addObserver(forName: posted, on: thread, options: options, transform: number(of:)) { [log] value in
            log.withLock { $0.append(value) }
            act(value)
        }
    }

    private func postElsewhere(_ values: ClosedRange<Int>) {
        Thread.posting(1) { [center] in
            for value in values { center.post(name: posted, object: value) }
        }.wait()
    }

    func testTheMainThreadHasEightMillisecondsAndOthersAreUnbounded() throws {
        let main = ThreadMailbox(threadName: "main", isMain: true)
        defer { main.finish() }
        XCTAssertEqual(TargetThread(mailbox: main).drainBudget, .time(.milliseconds(8)))
        let worker = RunLoopThread(name: "worker")
        XCTAssertEqual(worker.drainBudget, .unbounded)
        worker.drainBudget = .deliveries(5)
        XCTAssertEqual(worker.targetThread.drainBudget, DrainBudget(deliveries: 5))
        TargetThread.main.drainBudget = .deliveries(7)
        XCTAssertEqual(TargetThread.postingThread.drainBudget, .deliveries(7), "the calling thread's")
    }

    // MARK: Slices

    func testGuarantee11ADrainDeliversAsMuchAsItsBudgetAndTheNextOneContinues() {
        let token = observe()
        TargetThread.main.drainBudget = .deliveries(2)
        postElsewhere(1...5)
        let counts = (1...4).map { _ -> Int in
            makePass()
            return numbers.count
        }
        XCTAssertEqual(counts, [2, 4, 5, 5])
        XCTAssertEqual(numbers, [1, 2, 3, 4, 5])
        XCTAssertEqual(token.counters, DeliveryCounters(delivered: 5))
    }

    func testGuarantee11ATimeThatHasPassedEndsTheDrainAfterTheHandler() {
        let token = observe()
        TargetThread.main.drainBudget = .time(.zero)
        postElsewhere(1...3)
        for count in 1...3 {
            makePass()
            XCTAssertEqual(numbers.count, count)
        }
        XCTAssertEqual(token.counters.waiting, 0)
    }

    func testBlocksHeldDeliveriesAndPostsForSeveralObserversAllCount() throws {
        let observers = [observe(), observe(options: ObserverOptions(overflow: .dropOldest(capacity: 9)))]
        TargetThread.main.drainBudget = .deliveries(1)
        try TargetThread.main.performLater { [log] in log.withLock { $0.append(0) } }
        postElsewhere(1...1)
        var counts: [Int] = []
        for _ in 0..<4 {
            makePass()
            counts.append(numbers.count)
        }
        XCTAssertEqual(counts, [1, 2, 3, 3])
        // A handler of a post for several observers runs the run loop.
        log.withLock { $0 = [] }
        let log = log
        let runs = center.addObserver(forName: Notification.Name("runs"), on: .main) { _ in
            CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false)
            log.withLock { $0.append(-1) }
        }
        let others = (1...3).map { value in
            center.addObserver(forName: Notification.Name("runs"), on: .main) { _ in log.withLock { $0.append(value) } }
        }
        center.post(name: Notification.Name("runs"))
        XCTAssertEqual(numbers, [1, -1, 2, 3])
        XCTAssertEqual(([runs] + others + observers).map(\.counters.waiting), Array(repeating: 0, count: 6))
    }

    func testJobsOfActorsCount() throws {
        let worker = try RunLoopThread.started("worker")
        worker.drainBudget = .deliveries(1)
        let (log, port, receiver) = (log, SignalPort(), CountingReceiver())
        receiver.whenCalled { log.withLock { $0.append(-1) } }
        port.setDelegate(receiver)
        try worker.performAndWait(timeout: timeout) { RunLoop.current.add(port, forMode: .common) }
        let resume = try worker.keptBusy()
        let areDone = expectation(description: "the jobs are done")
        areDone.expectedFulfillmentCount = 5
        let isFirst = Atomic<Bool>.Box(true)
        let first = worker.mailbox.nextNumber
        for job in 1...5 {
            Task(executorPreference: worker) {
                log.withLock { $0.append(job) }
                if isFirst.value.exchange(false, ordering: .relaxed) { port.signal() }
                areDone.fulfill()
            }
        }
        // A task may be enqueued after it was created.
        let deadline = SuspendingClock.now + timeout
        while worker.mailbox.nextNumber < first + 5, SuspendingClock.now < deadline { sched_yield() }
        resume.signal()
        wait(for: [areDone], timeout: TestTimeout.seconds)
        try worker.stopAndWait()
        XCTAssertEqual(numbers.sorted(), Array(-1...5).filter { $0 != 0 })
        XCTAssertNotEqual(numbers.last, -1, "\(numbers)")
    }

    // MARK: The run loop between slices

    func testGuarantee11TimersAndSourcesOfTheMainRunLoopAreCalledBetweenSlices() {
        let log = log
        let token = observe { value in if value == 10 { CFRunLoopStop(CFRunLoopGetMain()) } }
        let port = SignalPort()
        let receiver = CountingReceiver()
        receiver.whenCalled { log.withLock { $0.append(-1) } }
        port.setDelegate(receiver)
        RunLoop.main.add(port, forMode: .common)
        defer { RunLoop.main.remove(port, forMode: .common) }
        let timer = Timer(fire: .distantPast, interval: 0, repeats: false) { _ in log.withLock { $0.append(-2) } }
        RunLoop.main.add(timer, forMode: .common)
        TargetThread.main.drainBudget = .deliveries(1)
        postElsewhere(1...10)
        port.signal()
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, TestTimeout.seconds, false)
        XCTAssertEqual(numbers.filter { $0 > 0 }, Array(1...10))
        for input in [-1, -2] {
            XCTAssertLessThan(numbers.firstIndex(of: input) ?? .max, numbers.firstIndex(of: 10) ?? 0, "\(numbers)")
        }
        XCTAssertEqual(token.counters.delivered, 10)
    }

    func testGuarantee11ALoopOfRunModeBeforeContinuesWithoutBeingWokenAndServesTimersAndSources() throws {
        for spins in [false, true] {
            let center = ThreadedNotificationCenter()
            let worker = RunLoopThread(name: "worker", spins: spins)
            worker.drainBudget = .deliveries(1)
            try worker.start()
            let log = Locked<[Int]>([])
            let port = SignalPort()
            let receiver = CountingReceiver()
            receiver.whenCalled { log.withLock { $0.append(-1) } }
            port.setDelegate(receiver)
            try worker.performAndWait(timeout: timeout) { RunLoop.current.add(port, forMode: .common) }
            let isOver = expectation(description: "the last is delivered")
            let token = center.addObserver(forName: posted, on: worker, transform: number(of:)) { value in
                log.withLock { $0.append(value) }
                if value == 1 {
                    port.signal()
                    let timer = Timer(fire: .distantPast, interval: 0, repeats: false) { _ in
                        log.withLock { $0.append(-2) }
                    }
                    RunLoop.current.add(timer, forMode: .common)
                }
                if value == 10 { isOver.fulfill() }
            }
            let resume = try worker.keptBusy()
            for value in 1...10 { center.post(name: posted, object: value) }
            resume.signal()
            wait(for: [isOver], timeout: TestTimeout.seconds)
            try worker.stopAndWait()
            let order = log.withLock { $0 }
            XCTAssertEqual(order.filter { $0 > 0 }, Array(1...10))
            for input in [-1, -2] {
                XCTAssertLessThan(order.firstIndex(of: input) ?? .max, order.firstIndex(of: 10) ?? 0, "\(order)")
            }
            XCTAssertEqual(token.counters, DeliveryCounters(delivered: 10))
        }
    }

    // MARK: Order

    func testGuarantee02APostBetweenSlicesDoesNotOvertakeWhatRemains() throws {
        let token = observe()
        TargetThread.main.drainBudget = .deliveries(1)
        postElsewhere(1...2)
        makePass()
        XCTAssertEqual(center.post(name: posted, object: 3), DeliveryCounters(waiting: 1))
        try TargetThread.main.perform { [log] in log.withLock { $0.append(4) } }
        for _ in 0..<3 { makePass() }
        XCTAssertEqual(numbers, [1, 2, 3, 4])
        XCTAssertEqual(center.post(name: posted, object: 5), DeliveryCounters(delivered: 1))
        XCTAssertEqual(token.counters.waiting, 0)
    }

    func testGuarantee04ANestedDrainHasABudgetOfItsOwnAndTheOuterOneContinues() {
        let token = observe { [log] value in
            guard value == 2 else { return }
            CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false)
            log.withLock { $0.append(-2) }
        }
        TargetThread.main.drainBudget = .deliveries(3)
        postElsewhere(1...8)
        makePass()
        XCTAssertEqual(numbers, [1, 2, 3, 4, 5, -2, 6])
        makePass()
        XCTAssertEqual(numbers, [1, 2, 3, 4, 5, -2, 6, 7, 8])
        XCTAssertEqual(token.counters.waiting, 0)
    }

    func testRandomBudgetsAndNestedRunsDeliverInOrder() {
        for seed in 0..<TestRounds.rounds(10, stress: 60) as Range<UInt64> {
            let center = ThreadedNotificationCenter()
            let random = Locked(SeededGenerator(seed: seed))
            @Sendable func once(in number: Int) -> Bool { random.withLock { $0.once(in: number) } }
            let calls = Locked<[Int]>([])
            let last = Locked(0)
            let count = 2000
            @Sendable func postNext() {
                let post = last.withLock { last -> Int? in
                    guard last < count else { return nil }
                    last += 1
                    return last
                }
                if let post { center.post(name: posted, object: post) }
            }
            let token = center.addObserver(
                forName: posted, on: .main, options: ObserverOptions(sameThread: .later), transform: number(of:)
            ) { value in
                calls.withLock { $0.append(value) }
                if once(in: 3) { for _ in 0..<3 { postNext() } }
                if once(in: 20) { CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false) }
                if once(in: 10) {
                    TargetThread.main.drainBudget = random.withLock {
                        .deliveries(Int.random(in: 1...300, using: &$0))
                    }
                }
            }
            makePasses {
                for _ in 0..<random.withLock({ Int.random(in: 0...400, using: &$0) }) { postNext() }
                return token.counters.delivered == count
            }
            XCTAssertEqual(calls.withLock { $0 }, Array(1...count), "seed \(seed)")
            XCTAssertEqual(token.counters, DeliveryCounters(delivered: count))
        }
    }

    // MARK: Calls that deliver everything

    func testWaitingCallsAndTheLastDrainOfAThreadDeliverEverything() throws {
        let token = observe()
        TargetThread.main.drainBudget = .deliveries(1)
        postElsewhere(1...3)
        makePass()
        XCTAssertEqual(
            try center.postAndWait(Notification(name: posted, object: 4), timeout: timeout),
            DeliveryCounters(delivered: 1))
        postElsewhere(5...7)
        makePass()
        try TargetThread.main.performAndWait(timeout: timeout) { [log] in log.withLock { $0.append(8) } }
        XCTAssertEqual(numbers, Array(1...8))
        token.cancel()

        log.withLock { $0 = [] }
        let worker = try RunLoopThread.started("worker")
        worker.drainBudget = .deliveries(1)
        let onWorker = observe(on: worker)
        let resume = try worker.keptBusy()
        for value in 1...100 { center.post(name: posted, object: value) }
        worker.stop()
        resume.signal()
        try worker.waitUntilFinished(timeout: timeout)
        XCTAssertEqual(numbers, Array(1...100))
        XCTAssertEqual(onWorker.counters, DeliveryCounters(delivered: 100))
    }

    // MARK: The end

    func testGuarantee10WhatRemainsWhenTheThreadEndsBetweenSlicesIsTargetGone() throws {
        let worker = try RunLoopThread.started("worker")
        worker.drainBudget = .deliveries(1)
        @Sendable func endThread() { Thread.exit() }
        let port = SignalPort()
        let receiver = CountingReceiver()
        receiver.whenCalled(endThread)
        port.setDelegate(receiver)
        try worker.performAndWait(timeout: timeout) { RunLoop.current.add(port, forMode: .common) }
        let token = observe(on: worker) { value in if value == 1 { port.signal() } }
        let resume = try worker.keptBusy()
        for value in 1...600 { center.post(name: posted, object: value) }
        resume.signal()
        try worker.waitUntilFinished(timeout: timeout)
        XCTAssertLessThan(token.counters.delivered, 600)
        XCTAssertEqual(token.counters.delivered + token.counters.targetGone, 600)
        XCTAssertEqual(numbers, Array(1...max(1, numbers.count)))
    }

    func testTheHandlerIsReleasedAfterItsDeliveriesInSlices() throws {
        let isReleased = Atomic<Bool>.Box(false)
        do {
            let recorder = ReleaseRecorder { isReleased.value.store(true, ordering: .relaxed) }
            let token = observe { _ in withExtendedLifetime(recorder) {} }
            TargetThread.main.drainBudget = .deliveries(100)
            postElsewhere(1...600)
            makePasses { token.counters.waiting == 0 }
        }
        XCTAssertEqual(numbers, Array(1...600))
        XCTAssertTrue(isReleased.value.load(ordering: .relaxed))
    }
}
