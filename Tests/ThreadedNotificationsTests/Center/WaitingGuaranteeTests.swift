import Foundation
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let guarantee = Notification.Name("guarantee")

private func number(_ value: Int) -> Notification { Notification(name: guarantee, object: value) }

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// The guarantees of the article Order and Guarantees, a test for each, by number; what waits, and waiting: 9 to 14.
final class WaitingGuaranteeTests: XCTestCase {
    private let limit = TestLimit.hang

    func testGuarantee09WhatIsNotForTheModeWaitsForIt() throws {
        let center = ThreadedNotificationCenter()
        let modal = RunLoop.Mode("modal")
        let handled = Locked<[String]>([])
        let tokens = [("common", RunLoop.Mode.common), ("modal", modal), ("default", .default)].map { who, mode in
            center.addObserver(
                forName: guarantee, on: .current, options: ObserverOptions(modes: [mode]), transform: number(of:)
            ) { value in handled.withLock { $0.append("\(who) \(value)") } }
        }
        // The run loop does not run: the thread counts as in the default mode.
        Thread.posting(1) { _ = center.post(number(1)) }.wait()
        XCTAssertEqual(handled.withLock { $0 }, [])
        XCTAssertEqual(center.post(number(2)).waiting, 3)
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, ["common 1", "default 1", "common 2", "default 2"])
        XCTAssertEqual(center.post(number(3)), DeliveryCounters(delivered: 2, waiting: 1))

        handled.withLock { $0 = [] }
        _ = RunLoop.current.run(mode: modal, before: Date())
        XCTAssertEqual(handled.withLock { $0 }, ["modal 1", "modal 2", "modal 3"])
        XCTAssertEqual(tokens.map(\.counters.delivered), [3, 3, 3])
    }

    func testGuarantee09OnItsOwnThreadTooWhatIsNotForTheModeWaits() throws {
        let center = ThreadedNotificationCenter()
        let modal = RunLoop.Mode("modal, own thread")
        let handled = Locked<[String]>([])
        func observe(_ who: String, _ modes: Set<RunLoop.Mode>) -> ObserverToken {
            center.addObserver(
                forName: guarantee, object: who, on: .main, options: ObserverOptions(modes: modes)
            ) { _ in handled.withLock { $0.append(who) } }
        }
        let tokens = [observe("modal", [modal]), observe("both", [.default, modal]), observe("common", [.common])]
        XCTAssertEqual(center.post(name: guarantee, object: "modal"), DeliveryCounters(waiting: 1))
        // What waits for the other mode is overtaken by nobody who could; what waits for this one is.
        XCTAssertEqual(center.post(name: guarantee, object: "common"), DeliveryCounters(delivered: 1))
        Thread.posting(1) { center.post(name: guarantee, object: "both") }.wait()
        XCTAssertEqual(center.post(name: guarantee, object: "common"), DeliveryCounters(waiting: 1))
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, ["common", "both", "common"])
        _ = RunLoop.current.run(mode: modal, before: Date())
        XCTAssertEqual(handled.withLock { $0 }, ["common", "both", "common", "modal"])
        XCTAssertEqual(tokens.map(\.counters.waiting), [0, 0, 0])
    }

    func testGuarantee10WhatIsPostedWhileAThreadStopsAndWhatADrainHadTakenIsCounted() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let goOn = try worker.keptBusy()
        let token = center.addObserver(forName: guarantee, on: worker) { _ in }
        worker.stop()
        XCTAssertEqual(center.post(name: guarantee), DeliveryCounters(targetGone: 1))
        goOn.signal()
        try worker.waitUntilFinished(timeout: limit)
        XCTAssertEqual(token.counters, .init(targetGone: 1))

        let exiting = try RunLoopThread.started("exiting")
        let hold = try exiting.keptBusy()
        @Sendable func endThread() { Thread.exit() }
        let other = center.addObserver(forName: guarantee, on: exiting) { _ in endThread() }
        for _ in 0..<3 { center.post(name: guarantee) }
        hold.signal()
        try exiting.waitUntilFinished(timeout: limit)
        XCTAssertEqual(other.counters, .init(delivered: 1, targetGone: 2))
    }

    func testGuarantee10WhatWaitsForAnEndedThreadIsCountedAndALaterPosterLearnsIt() throws {
        let center = ThreadedNotificationCenter()
        let modal = RunLoop.Mode("never run")
        let worker = try RunLoopThread.started("worker")
        let handled = Atomic<Int>(0)
        let token = center.addObserver(forName: guarantee, on: worker, options: ObserverOptions(modes: [modal])) { _ in
            handled.add(1, ordering: .relaxed)
        }
        for _ in 0..<3 { XCTAssertEqual(center.post(name: guarantee).waiting, 1) }
        XCTAssertEqual(token.counters, .init(waiting: 3))
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, .init(targetGone: 3))
        XCTAssertEqual(center.post(name: guarantee), DeliveryCounters(targetGone: 1))
        XCTAssertEqual(handled.load(ordering: .relaxed), 0)
        XCTAssertThrowsError(try worker.perform {}) {
            XCTAssertEqual($0 as? DeliveryError, .threadStopped(thread: "worker"))
        }
        XCTAssertThrowsError(try center.postAndWait(Notification(name: guarantee), timeout: limit)) {
            XCTAssertEqual($0 as? DeliveryError, .threadStopped(thread: "worker"))
        }
    }

    func testGuarantee11ADrainLeavesNothingBehindAndAHandlerThatKeepsPostingDoesNotStarveTheRunLoop() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let handled = Atomic<Int>(0)
        let token = center.addObserver(forName: guarantee, on: worker) { _ in handled.add(1, ordering: .relaxed) }
        let goOn = try worker.keptBusy()
        // Any number of posts, one signal.
        let events = try tracing {
            for _ in 0..<1000 { center.post(name: guarantee) }
        }
        XCTAssertEqual(events.count { $0.stage == .signal }, 1)
        goOn.signal()
        try worker.performAndWait(timeout: limit) {}
        XCTAssertEqual(handled.load(ordering: .relaxed), 1000)
        XCTAssertEqual(token.counters.waiting, 0)

        // A handler that posts to itself for ever, and a port that wants its turn.
        let isOver = Atomic<Bool>(false)
        let again = Notification.Name("again")
        let restless = center.addObserver(forName: again, on: worker) { _ in
            if !isOver.load(ordering: .relaxed) { center.post(name: again) }
        }
        center.post(name: again)
        let receiver = CountingReceiver()
        let port = SignalPort()
        let served = expectation(description: "served")
        receiver.whenCalled { served.fulfill() }
        port.setDelegate(receiver)
        try worker.perform { RunLoop.current.add(port, forMode: .common) }
        port.signal()
        wait(for: [served], timeout: TestLimit.seconds)
        isOver.store(true, ordering: .relaxed)
        try worker.stopAndWait()
        XCTAssertGreaterThan(restless.counters.delivered, 0)
    }

    func testGuarantee12ABoundedMailboxAppliesItsPolicyAndCounts() throws {
        let center = ThreadedNotificationCenter()
        func run(_ policy: OverflowPolicy) throws -> (
            handled: [Int], counters: DeliveryCounters, reports: [DeliveryCounters]
        ) {
            let worker = try RunLoopThread.started("worker")
            let handled = Locked<[Int]>([])
            let token = center.addObserver(
                forName: guarantee, on: worker, options: ObserverOptions(overflow: policy),
                transform: { ($0.userInfo?["place"] as? Int) },
                using: { value in handled.withLock { $0.append(value) } })
            let goOn = try worker.keptBusy()
            let reports = (1...6).map { place in
                center.post(name: guarantee, object: place % 2, userInfo: ["place": place])
            }
            goOn.signal()
            try worker.stopAndWait()
            return (handled.withLock { $0 }, token.counters, reports)
        }
        let oldest = try run(.dropOldest(capacity: 2))
        XCTAssertEqual(oldest.handled, [5, 6])
        XCTAssertEqual(oldest.counters, .init(delivered: 2, dropped: 4))
        let newest = try run(.dropNewest(capacity: 2))
        XCTAssertEqual(newest.handled, [1, 2])
        XCTAssertEqual(newest.counters, .init(delivered: 2, dropped: 4))
        XCTAssertEqual(newest.reports.map(\.dropped), [0, 0, 1, 1, 1, 1])
        let latest = try run(.keepLatest)
        XCTAssertEqual(latest.handled, [5, 6])
        XCTAssertEqual(latest.counters, .init(delivered: 2, coalesced: 4))
        let refused = try run(.refuse(capacity: 2))
        XCTAssertEqual(refused.handled, [1, 2])
        XCTAssertEqual(refused.reports.map(\.refused), [0, 0, 1, 1, 1, 1])
        let blocked = try run(.block(capacity: 2, timeout: .milliseconds(1)))
        XCTAssertEqual(blocked.handled, [1, 2])
        XCTAssertEqual(blocked.counters, .init(delivered: 2, dropped: 4))
        let unbounded = try run(.unbounded)
        XCTAssertEqual(unbounded.handled, [1, 2, 3, 4, 5, 6])
    }

    func testGuarantee12ABlockingPostWaitsForRoomAndLosesNothing() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let handled = Locked<[Int]>([])
        let token = center.addObserver(
            forName: guarantee, on: worker, options: ObserverOptions(overflow: .block(capacity: 2, timeout: limit)),
            transform: number(of:)
        ) { value in handled.withLock { $0.append(value) } }
        let posters = (0..<4).map { poster in
            Thread.posting(1) {
                for place in 0..<500 { center.post(number(poster * 1000 + place)) }
            }
        }
        for poster in posters { poster.wait() }
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, .init(delivered: 2000))
        let values = handled.withLock { $0 }
        for poster in 0..<4 { XCTAssertEqual(values.filter { $0 / 1000 == poster }.count, 500) }
        for poster in 0..<4 {
            let own = values.filter { $0 / 1000 == poster }
            XCTAssertEqual(own, own.sorted())
        }
    }

    func testGuarantee13AWaitThatWouldCloseACycleFailsAtOnceAndNamesIt() throws {
        let (a, b) = (try RunLoopThread.started("A"), try RunLoopThread.started("B"))
        let center = ThreadedNotificationCenter()
        let token = center.addObserver(forName: guarantee, on: .main) { _ in }
        let error = Locked<DeliveryError?>(nil)
        let result = try a.performAndWait(timeout: limit) { [limit] in
            try b.performAndWait(timeout: limit) {
                do throws(DeliveryError) {
                    // main waits for A, A for B, and B would wait for main.
                    try center.postAndWait(Notification(name: guarantee), timeout: limit)
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

    func testGuarantee13AWaitingPostReturnsAfterTheHandlerOfAnObserverThatIsRemovedMeanwhile() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let other = try RunLoopThread.started("other")
        // In the handler itself, as one-shot observers do; or on another thread.
        for isRemovedByOther in [false, true] {
            let token = Locked<ObserverToken?>(nil)
            let isRunning = Atomic<Bool>.Box(false)
            let observer = center.addObserver(forName: guarantee, on: worker) { [limit] _ in
                isRunning.value.store(true, ordering: .relaxed)
                let remove: @Sendable () -> Void = { token.withLock { $0 }?.cancel() }
                if isRemovedByOther {
                    do { try other.performAndWait(timeout: limit, remove) } catch { XCTFail("\(error)") }
                } else {
                    remove()
                }
                isRunning.value.store(false, ordering: .releasing)
            }
            token.withLock { $0 = observer }
            let report = try center.postAndWait(number(1), timeout: limit)
            XCTAssertFalse(isRunning.value.load(ordering: .acquiring), "post returned while the handler ran")
            XCTAssertEqual(report, DeliveryCounters(delivered: 1))
            XCTAssertEqual(observer.counters, .init(delivered: 1))
        }
        try worker.stopAndWait()
        try other.stopAndWait()
    }

    func testGuarantee13AWaitEndsAtOnceForADeliveryThatHasNotBegunWhenItsObserverIsRemoved() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let goOn = try worker.keptBusy()
        let token = center.addObserver(forName: guarantee, on: worker) { _ in }
        let remover = Thread.posting(1) {
            while token.counters.total == 0 { sched_yield() }
            token.cancel()
        }
        // The worker is busy until the post has returned.
        XCTAssertEqual(try center.postAndWait(number(1), timeout: limit), DeliveryCounters(cancelled: 1))
        remover.wait()
        goOn.signal()
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, .init(cancelled: 1))
    }

    func testGuarantee13AnObserverThatATracerRemovesWhenTheWaitBeginsIsNotWaitedFor() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let goOn = try worker.keptBusy()
        let token = center.addObserver(forName: guarantee, on: worker) { _ in }
        DeliveryEvent.tracer = { event in if event.stage == .wait { token.cancel() } }
        defer { DeliveryEvent.tracer = nil }
        // The worker is busy until the post has returned.
        XCTAssertEqual(try center.postAndWait(number(1), timeout: limit), DeliveryCounters(cancelled: 1))
        goOn.signal()
        try worker.stopAndWait()
        XCTAssertEqual(token.counters, .init(cancelled: 1))
    }

    func testGuarantee13AnObserversDeinitThatEndsTheThreadEndsTheWaitForItsHandler() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        @Sendable func endThread() { Thread.exit() }
        let token = Locked<ObserverToken?>(nil)
        try worker.performAndWait(timeout: limit) {
            let owner = Owner(ReleaseRecorder { endThread() })
            let added = center.addObserver(owner.object!, forName: guarantee, on: .current) { _, _ in owner.object = nil
            }
            token.withLock { $0 = added }
        }
        XCTAssertThrowsError(try center.postAndWait(number(1), timeout: limit)) {
            XCTAssertEqual($0 as? DeliveryError, .threadEnded(thread: "\(worker.identity!)"))
        }
        try worker.waitUntilFinished(timeout: limit)
        try token.withLock { $0 }?.cancelAndWait(timeout: limit)
        XCTAssertTrue(ThreadWaits.isEmpty)
    }

    func testGuarantee13AnObserversObjectIsReleasedBeforeAWaitForItEnds() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        for _ in 0..<200 {
            let log = Locked<[String]>([])
            // An object whose last owner releases it in its handler, and a closure that removes its observer.
            let method = Notification.Name("method")
            try worker.perform {
                let owner = Locked<[MethodObserver]>([])
                owner.withLock { $0 = [MethodObserver(log) { owner.withLock { $0 = [] } }] }
                center.addObserver(owner.withLock { $0[0] }, forName: method, on: .current) { $0.handle($1) }
            }
            try worker.performAndWait(timeout: limit) {}
            try center.postAndWait(Notification(name: method), timeout: limit)
            XCTAssertEqual(log.withLock { $0 }, ["handled", "gone"])

            for isMapped in [false, true] {
                let isReleased = Atomic<Bool>.Box(false)
                let token = Locked<ObserverToken?>(nil)
                func observe() -> ObserverToken {
                    let recorder = ReleaseRecorder { isReleased.value.store(true, ordering: .releasing) }
                    let handle: @Sendable () -> Void = {
                        withExtendedLifetime(recorder) { token.withLock { $0 }?.cancel() }
                    }
                    return isMapped
                        ? center.addObserver(forName: guarantee, on: worker, transform: number(of:)) { _ in handle() }
                        : center.addObserver(forName: guarantee, on: worker) { _ in handle() }
                }
                token.withLock { $0 = observe() }
                try center.postAndWait(number(1), timeout: limit)
                XCTAssertTrue(isReleased.value.load(ordering: .acquiring), "mapped: \(isMapped)")
            }
        }
        try worker.stopAndWait()
    }

    func testGuarantee14AnObserverWhoseObjectHasBeenDeallocatedDoesNotMatch() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let living = center.addObserver(forName: guarantee, on: worker) { _ in }
        // A thread that does not run its run loop: a delivery to it would never end.
        let (isAdded, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let log = Locked<[String]>([])
        let stalled = Thread.posting(1) {
            center.addObserver(MethodObserver(log), forName: guarantee, on: .current) { $0.handle($1) }
            isAdded.signal()
            end.wait()
        }
        isAdded.wait()
        XCTAssertEqual(log.withLock { $0 }, ["gone"])
        XCTAssertEqual(center.registrations.observers, 2)
        let posts = try tracing {
            XCTAssertEqual(try center.postAndWait(number(1), timeout: limit), DeliveryCounters(delivered: 1))
        }
        XCTAssertEqual(posts.filter { $0.stage == .post }.map(\.count), [1])
        XCTAssertEqual(center.registrations.observers, 1, "what cannot match any more is removed")
        XCTAssertEqual(center.post(number(2)), DeliveryCounters(waiting: 1))
        end.signal()
        stalled.wait()
        // Also when the thread has ended.
        XCTAssertEqual(try center.postAndWait(number(3), timeout: limit), DeliveryCounters(delivered: 1))
        try worker.stopAndWait()
        XCTAssertEqual(living.counters, .init(delivered: 3))
    }

    func testGuarantee14EachPostHasOneOutcomeForEachObserverAndItsEventsAgree() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let mine = Locked<Set<UInt64>>([])
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
            tokens.append(
                center.addObserver(
                    forName: guarantee, on: worker, options: ObserverOptions(modes: [RunLoop.Mode("never run")])
                ) { _ in })
            mine.withLock { $0 = Set(tokens.map(\.id)) }
            let poster = Thread.posting(2) { for place in 0..<50 { center.post(number(place % 4)) } }
            tokens[0].cancel()
            poster.wait()
            try worker.stopAndWait()
        }
        let fates: [DeliveryEvent.Stage] = [.deliver, .coalesce, .drop, .cancel, .targetGone]
        var met: [UInt64: [UInt64: [DeliveryEvent.Stage]]] = [:]
        for event in events where fates.contains(event.stage) && mine.withLock({ $0.contains(event.observer) }) {
            met[event.observer, default: [:]][event.post, default: []].append(event.stage)
        }
        for token in tokens {
            let counts = token.counters
            XCTAssertEqual(counts.waiting, 0)
            let fatesOfPosts = met[token.id] ?? [:]
            XCTAssertEqual(fatesOfPosts.count, counts.total)
            XCTAssertTrue(fatesOfPosts.values.allSatisfy { $0.count == 1 }, "\(fatesOfPosts)")
            let all = fatesOfPosts.values.flatMap(\.self)
            XCTAssertEqual(all.count { $0 == .deliver }, counts.delivered)
            XCTAssertEqual(all.count { $0 == .coalesce }, counts.coalesced)
            XCTAssertEqual(all.count { $0 == .drop }, counts.dropped + counts.refused)
            XCTAssertEqual(all.count { $0 == .cancel }, counts.cancelled)
            XCTAssertEqual(all.count { $0 == .targetGone }, counts.targetGone)
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
