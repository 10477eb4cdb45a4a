import CoreFoundation
import Foundation
import SharedTesting
import Synchronization
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("posted in DrainTests")

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// Guarantee 11: a drain delivers what waited when it began, or its budget, and starves no run loop.
final class DrainTests: XCTestCase {
    private let center = ThreadedNotificationCenter()
    private let log = Locked<[Int]>([])

    private var numbers: [Int] { log.withLock { $0 } }

    override func tearDown() {
        MainThread.main.drainBudget = .unbounded
    }

    /// One pass through the main thread's run loop.
    private func makePass() {
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false)
    }

    private func observe(
        on thread: some DeliveryTarget = .main, then act: @escaping @Sendable (Int) -> Void = { _ in }
    ) -> ObserverToken {
        center.addObserver(forName: posted, on: thread, transform: number(of:)) { [log] value in
            log.withLock { $0.append(value) }
            act(value)
        }
    }

    private func postElsewhere(_ values: ClosedRange<Int>) {
        Thread.posting(1) { [center] in
            for value in values { center.post(name: posted, object: value) }
        }.wait()
    }

    func testADrainTakesEverythingAfterOneSignal() throws {
        let worker = try RunLoopThread.started("worker")
        let token = observe(on: worker)
        let resume = try worker.keptBusy()
        // One signal for all posts, or none, because the thread looks again before it sleeps.
        let events = try tracing { for value in 1...1000 { center.post(name: posted, object: value) } }
        XCTAssertLessThanOrEqual(events.count { $0.stage == .signal }, 1)
        resume.signal()
        try worker.stopAndWait()
        XCTAssertEqual(numbers, Array(1...1000))
        XCTAssertEqual(token.counters.waiting, 0)
    }

    func testAHandlerThatAlwaysPostsDoesNotStarveTheRunLoop() throws {
        let worker = try RunLoopThread.started("worker")
        let isOver = Atomic<Bool>.Box(false)
        let endless = center.addObserver(forName: posted, on: worker) { [center] _ in
            if !isOver.value.load(ordering: .relaxed) { center.post(name: posted) }
        }
        center.post(name: posted)
        let (receiver, port) = (CountingReceiver(), SignalPort())
        let served = expectation(description: "served")
        receiver.whenCalled { served.fulfill() }
        port.setDelegate(receiver)
        try worker.perform { RunLoop.current.add(port, forMode: .common) }
        port.signal()
        wait(for: [served], timeout: TestTimeout.seconds)
        isOver.value.store(true, ordering: .relaxed)
        try worker.stopAndWait()
        XCTAssertGreaterThan(endless.counters.delivered, 0)
    }

    func testADrainDeliversAsMuchAsItsBudgetAndTheNextOneContinues() {
        let cases: [(budget: DrainBudget, counts: [Int])] = [
            (.deliveries(2), [2, 4, 5, 5]), (.time(.zero), [1, 2, 3]),
        ]
        for (budget, expected) in cases {
            log.withLock { $0 = [] }
            let token = observe()
            MainThread.main.drainBudget = budget
            postElsewhere(1...expected.max()!)
            let counts = expected.map { _ -> Int in
                makePass()
                return numbers.count
            }
            XCTAssertEqual(counts, expected, "\(budget)")
            XCTAssertEqual(numbers, Array(1...expected.max()!))
            XCTAssertEqual(token.counters.waiting, 0)
        }
    }

    func testTimersAndSourcesOfTheMainRunLoopAreCalledBetweenSlices() {
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
        MainThread.main.drainBudget = .deliveries(1)
        postElsewhere(1...10)
        port.signal()
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, TestTimeout.seconds, false)
        XCTAssertEqual(numbers.filter { $0 > 0 }, Array(1...10))
        for input in [-1, -2] {
            XCTAssertLessThan(numbers.firstIndex(of: input) ?? .max, numbers.firstIndex(of: 10) ?? 0, "\(numbers)")
        }
        XCTAssertEqual(token.counters.delivered, 10)
    }

    func testANestedDrainHasABudgetOfItsOwnAndTheOuterOneContinues() {
        let token = observe { [log] value in
            guard value == 2 else { return }
            CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false)
            log.withLock { $0.append(-2) }
        }
        MainThread.main.drainBudget = .deliveries(3)
        postElsewhere(1...8)
        makePass()
        XCTAssertEqual(numbers, [1, 2, 3, 4, 5, -2, 6])
        makePass()
        XCTAssertEqual(numbers, [1, 2, 3, 4, 5, -2, 6, 7, 8])
        XCTAssertEqual(token.counters.waiting, 0)
    }

    func testWaitingCallsAndTheLastDrainOfAThreadDeliverEverything() throws {
        let token = observe()
        MainThread.main.drainBudget = .deliveries(1)
        postElsewhere(1...3)
        makePass()
        try center.postAndWait(Notification(name: posted, object: 4), timeout: TestTimeout.hang)
        XCTAssertEqual(numbers, Array(1...4))
        token.cancel()

        log.withLock { $0 = [] }
        let worker = try RunLoopThread.started("worker")
        worker.drainBudget = .deliveries(1)
        let onWorker = observe(on: worker)
        let resume = try worker.keptBusy()
        for value in 1...100 { center.post(name: posted, object: value) }
        worker.stop()
        resume.signal()
        try worker.waitUntilFinished(timeout: TestTimeout.hang)
        XCTAssertEqual(numbers, Array(1...100))
        XCTAssertEqual(onWorker.counters, DeliveryCounters(delivered: 100))
    }
}
