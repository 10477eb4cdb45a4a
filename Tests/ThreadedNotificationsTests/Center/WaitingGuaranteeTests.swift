import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let guarantee = Notification.Name("guarantee")

private func number(_ value: Int) -> Notification { Notification(name: guarantee, object: value) }

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// Guarantees 13 and 14 of the article *Order and Guarantees*: waiting, and outcomes.
final class WaitingGuaranteeTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testGuarantee13AWaitThatWouldCloseACycleFailsAtOnceAndNamesTheCycle() throws {
        let (a, b) = (try RunLoopThread.started("A"), try RunLoopThread.started("B"))
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(forName: guarantee, on: .main) { _ in }
        let error = Locked<DeliveryError?>(nil)
        let result = try a.performAndWait(timeout: timeout) { [timeout] in
            try b.performAndWait(timeout: timeout) {
                do throws(DeliveryError) {
                    // main waits for A, A for B, and B would wait for main.
                    try center.postAndWait(Notification(name: guarantee), timeout: timeout)
                } catch let deadlock {
                    error.withLock { $0 = deadlock }
                }
                return "B went on"
            } + ", A too"
        }
        XCTAssertEqual(result, "B went on, A too")
        let deadlock = try XCTUnwrap(error.withLock { $0 })
        XCTAssertEqual(deadlock.code, .waitWouldDeadlock, "\(deadlock)")
        let cycle = deadlock.waits
        XCTAssertEqual(cycle.map(\.thread.name), ["B", "main", "A"])
        XCTAssertTrue(cycle.allSatisfy { $0.file.hasSuffix("GuaranteeTests.swift") && $0.line > 0 })
        XCTAssertEqual(Set(cycle.map(\.line)).count, 3)
        XCTAssertTrue(cycle[0].waitsFor.contains("{number = 1, name = main} to handle guarantee"), cycle[0].waitsFor)
        XCTAssertEqual(token.counters.total, 0, "nothing was posted")
        XCTAssertTrue(ThreadWaits.isEmpty)
        try a.stopAndWait()
        try b.stopAndWait()
    }

    func testGuarantee13AWaitingPostReturnsAfterARunningHandlerWhoseObserverIsRemoved() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let other = try RunLoopThread.started("other")
        // Removed by its own handler, or on another thread.
        for isRemovedByOther in [false, true] {
            let token = Locked<ObserverToken?>(nil)
            let isRunning = Atomic<Bool>.Box(false)
            let observer = center.addObserver(forName: guarantee, on: worker) { [timeout] _ in
                isRunning.value.store(true, ordering: .relaxed)
                let remove: @Sendable () -> Void = { token.withLock { $0 }?.cancel() }
                if isRemovedByOther {
                    do { try other.performAndWait(timeout: timeout, remove) } catch { XCTFail("\(error)") }
                } else {
                    remove()
                }
                isRunning.value.store(false, ordering: .releasing)
            }
            token.withLock { $0 = observer }
            let report = try center.postAndWait(number(1), timeout: timeout)
            XCTAssertFalse(isRunning.value.load(ordering: .acquiring), "post returned while the handler ran")
            XCTAssertEqual(report, DeliveryCounters(delivered: 1))
            XCTAssertEqual(observer.counters, .init(delivered: 1))
        }
        try worker.stopAndWait()
        try other.stopAndWait()
    }

    func testGuarantee13RemovingAnObserverEndsTheWaitForADeliveryThatHasNotBegun() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let token = center.addObserver(forName: guarantee, on: worker) { _ in }
        let remover = Thread.posting(1) {
            while token.counters.total == 0 { sched_yield() }
            token.cancel()
        }
        // The worker is kept busy until the post has returned.
        XCTAssertEqual(try center.postAndWait(number(1), timeout: timeout), DeliveryCounters(cancelled: 1))
        remover.wait()
        resume.signal()
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, .init(cancelled: 1))
    }

    func testGuarantee13AWaitDoesNotIncludeAnObserverThatATracerRemovesAsItBegins() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let resume = try worker.keptBusy()
        let token = center.addObserver(forName: guarantee, on: worker) { _ in }
        DeliveryEvent.tracer = { event in if event.stage == .wait { token.cancel() } }
        defer { DeliveryEvent.tracer = nil }
        // The worker is kept busy until the post has returned.
        XCTAssertEqual(try center.postAndWait(number(1), timeout: timeout), DeliveryCounters(cancelled: 1))
        resume.signal()
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, .init(cancelled: 1))
    }

    func testGuarantee13ADeinitThatEndsTheThreadEndsTheWaitForTheHandler() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        @Sendable func endThread() { Thread.exit() }
        let token = Locked<ObserverToken?>(nil)
        try worker.performAndWait(timeout: timeout) {
            let owner = Owner(ReleaseRecorder { endThread() })
            let added = center.addObserver(owner.object!, forName: guarantee, on: .current) { _, _ in owner.object = nil
            }
            token.withLock { $0 = added }
        }
        XCTAssertThrowsError(try center.postAndWait(number(1), timeout: timeout)) {
            XCTAssertEqual($0 as? DeliveryError, .threadEnded(thread: "\(worker.identity!)"))
        }
        try worker.waitUntilFinished(timeout: timeout)
        try token.withLock { $0 }?.cancelAndWait(timeout: timeout)
        XCTAssertTrue(ThreadWaits.isEmpty)
    }

    func testGuarantee13TheHandlerAndItsObjectAreReleasedBeforeTheWaitEnds() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        for _ in 0..<200 {
            let log = Locked<[String]>([])
            // First an object that its handler releases; then a closure that removes its observer.
            let method = Notification.Name("method")
            try worker.perform {
                let owner = Locked<[MethodObserver]>([])
                owner.withLock { $0 = [MethodObserver(log) { owner.withLock { $0 = [] } }] }
                center.addObserver(owner.withLock { $0[0] }, forName: method, on: .current) { $0.handle($1) }
            }
            try worker.performAndWait(timeout: timeout) {}
            try center.postAndWait(Notification(name: method), timeout: timeout)
            XCTAssertEqual(log.withLock { $0 }, ["handled", "deallocated"])

            for hasTransform in [false, true] {
                let isReleased = Atomic<Bool>.Box(false)
                let token = Locked<ObserverToken?>(nil)
                func observe() -> ObserverToken {
                    let recorder = ReleaseRecorder { isReleased.value.store(true, ordering: .releasing) }
                    let handle: @Sendable () -> Void = {
                        withExtendedLifetime(recorder) { token.withLock { $0 }?.cancel() }
                    }
                    return hasTransform
                        ? center.addObserver(forName: guarantee, on: worker, transform: number(of:)) { _ in handle() }
                        : center.addObserver(forName: guarantee, on: worker) { _ in handle() }
                }
                token.withLock { $0 = observe() }
                try center.postAndWait(number(1), timeout: timeout)
                XCTAssertTrue(isReleased.value.load(ordering: .acquiring), "with a transform: \(hasTransform)")
            }
        }
        try worker.stopAndWait()
    }

    func testGuarantee14AnObserverWhoseObjectHasBeenDeallocatedDoesNotMatch() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let living = center.addObserver(forName: guarantee, on: worker) { _ in }
        // This thread does not run its run loop: a wait for its delivery would never end.
        let (isAdded, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let log = Locked<[String]>([])
        let stalled = Thread.posting(1) {
            center.addObserver(MethodObserver(log), forName: guarantee, on: .current) { $0.handle($1) }
            isAdded.signal()
            end.wait()
        }
        isAdded.wait()
        XCTAssertEqual(log.withLock { $0 }, ["deallocated"])
        XCTAssertEqual(center.registrations.observers, 2)
        let posts = try tracing {
            XCTAssertEqual(try center.postAndWait(number(1), timeout: timeout), DeliveryCounters(delivered: 1))
        }
        XCTAssertEqual(posts.filter { $0.stage == .post }.map(\.count), [1])
        XCTAssertEqual(center.registrations.observers, 1, "the observer of the deallocated object is removed")
        XCTAssertEqual(center.post(number(2)), DeliveryCounters(waiting: 1))
        end.signal()
        stalled.wait()
        // The same holds when the thread has ended.
        XCTAssertEqual(try center.postAndWait(number(3), timeout: timeout), DeliveryCounters(delivered: 1))
        try worker.stopAndWait()
        XCTAssertEqual(living.counters, .init(delivered: 3))
    }

    func testGuarantee14EachPostHasOneOutcomeForEachObserverAndTheEventsAgree() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let observers = Locked<Set<UInt64>>([])
        var tokens: [ObserverToken] = []
        let events = try tracing {
            for policy: OverflowPolicy in [
                .unbounded, .dropOldest(capacity: 3), .dropNewest(capacity: 3), .keepLatest, .refuse(capacity: 1),
            ] {
                tokens.append(
                    center.addObserver(forName: guarantee, on: worker, options: ObserverOptions(overflow: policy)) {
                        _ in
                    })
            }
            tokens.append(center.addObserver(forName: guarantee, on: .postingThread) { _ in })
            let ended = try RunLoopThread.started("ended")
            try ended.stopAndWait()
            tokens.append(center.addObserver(forName: guarantee, on: ended) { _ in })
            observers.withLock { $0 = Set(tokens.map(\.id)) }
            let poster = Thread.posting(2) { for value in 0..<50 { center.post(number(value % 4)) } }
            tokens[0].cancel()
            poster.wait()
            try worker.stopAndWait()
        }
        let outcomes: [DeliveryEvent.Stage] = [.deliver, .coalesce, .drop, .cancel, .targetGone]
        var resolved: [UInt64: [UInt64: [DeliveryEvent.Stage]]] = [:]
        for event in events where outcomes.contains(event.stage) && observers.withLock({ $0.contains(event.observer) })
        {
            resolved[event.observer, default: [:]][event.post, default: []].append(event.stage)
        }
        for token in tokens {
            let counters = token.counters
            XCTAssertEqual(counters.waiting, 0)
            let outcomesOfPosts = resolved[token.id] ?? [:]
            XCTAssertEqual(outcomesOfPosts.count, counters.total)
            XCTAssertTrue(outcomesOfPosts.values.allSatisfy { $0.count == 1 }, "\(outcomesOfPosts)")
            let all = outcomesOfPosts.values.flatMap(\.self)
            XCTAssertEqual(all.count { $0 == .deliver }, counters.delivered)
            XCTAssertEqual(all.count { $0 == .coalesce }, counters.coalesced)
            XCTAssertEqual(all.count { $0 == .drop }, counters.dropped + counters.refused)
            XCTAssertEqual(all.count { $0 == .cancel }, counters.cancelled)
            XCTAssertEqual(all.count { $0 == .targetGone }, counters.targetGone)
        }
        XCTAssertEqual(tokens.last?.counters.targetGone, 100)
    }
}

private final class Owner {
    var object: ReleaseRecorder?

    init(_ object: ReleaseRecorder) {
        self.object = object
    }
}
