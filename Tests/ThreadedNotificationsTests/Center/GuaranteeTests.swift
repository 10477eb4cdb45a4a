import Foundation
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let guarantee = Notification.Name("guarantee")

private func number(_ value: Int) -> Notification { Notification(name: guarantee, object: value) }

@Sendable private func number(of notification: Notification) -> Int? { notification.object as? Int }

/// The guarantees of the article Order and Guarantees, a test for each, by number.
final class GuaranteeTests: XCTestCase {
    private let limit = Duration.seconds(20)

    func testGuarantee01AHandlerRunsOnItsTargetThreadAndOnNoOther() throws {
        let center = ThreadedNotificationCenter()
        let threads = try (0..<3).map { try RunLoopThread.started("target \($0)") }
        let seen = Locked<[String: Set<Int>]>([:])
        @Sendable func see(_ who: String) {
            let number = ThreadIdentity.current.number
            seen.withLock { _ = $0[who, default: []].insert(number) }
        }
        var tokens = threads.map { thread in
            center.addObserver(forName: guarantee, on: thread) { _ in see(thread.name) }
        }
        tokens.append(center.addObserver(forName: guarantee, on: .main) { _ in see("main") })
        tokens.append(center.addObserver(forName: guarantee, onCurrentThread: { _ in see("current") }))
        tokens.append(center.addObserver(forName: guarantee, on: .postingThread) { _ in see("posting") })
        let posters = try (0..<3).map { try RunLoopThread.started("poster \($0)") }
        for poster in posters + threads {
            try poster.perform { for _ in 0..<100 { center.post(name: guarantee) } }
        }
        for thread in posters { try thread.stopAndWait() }
        for thread in threads { try thread.perform(waitUntilDone: limit) {} }
        center.post(name: guarantee)
        for thread in threads { try thread.stopAndWait() }
        RunLoop.runCurrentOnce()

        let all = seen.withLock { $0 }
        for thread in threads { XCTAssertEqual(all[thread.name], [try XCTUnwrap(thread.identity).number]) }
        XCTAssertEqual(all["main"], [1])
        XCTAssertEqual(all["current"], [1])
        XCTAssertEqual(all["posting"], Set((posters + threads).compactMap { $0.identity?.number } + [1]))
        for token in tokens { XCTAssertEqual(token.counts.delivered, 601) }
    }

    func testGuarantee02PostedOnItsThreadItIsDeliveredBeforePostReturnsAndJoinsTheEndIfSomethingWaits() throws {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[Int]>([])
        let token = center.addObserver(forName: guarantee, on: .current, mapping: number(of:)) { value in
            handled.withLock { $0.append(value) }
        }
        XCTAssertEqual(center.post(number(1)).delivered, 1)
        XCTAssertEqual(handled.withLock { $0 }, [1])

        let poster = try RunLoopThread.started("poster")
        try poster.perform(waitUntilDone: limit) { _ = center.post(number(2)) }
        XCTAssertEqual(center.post(number(3)).waiting, 1, "2 waits, so 3 must not overtake it")
        XCTAssertEqual(handled.withLock { $0 }, [1])
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, [1, 2, 3])
        XCTAssertEqual(center.post(number(4)).delivered, 1)
        try poster.stopAndWait()
        token.cancel()
    }

    func testGuarantee02TheDocumentsRuleDeliversAtOnceAndMarksWhatOvertakes() throws {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[Int]>([])
        let token = center.addObserver(
            forName: guarantee, on: .current, options: ObserverOptions(sameThread: .atOnce), mapping: number(of:)
        ) { value in handled.withLock { $0.append(value) } }
        let poster = try RunLoopThread.started("poster")
        try poster.perform(waitUntilDone: limit) { _ = center.post(number(1)) }
        let overtaking = try tracing(of: token.id) {
            XCTAssertEqual(center.post(number(2)).delivered, 1)
            RunLoop.runCurrentOnce()
        }
        XCTAssertEqual(handled.withLock { $0 }, [2, 1])
        XCTAssertEqual(overtaking.filter { $0.stage == .deliver }.map(\.overtakes), [true, false])
        try poster.stopAndWait()
    }

    func testGuarantee03PostedOnAnotherThreadPostDoesNotWait() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let goOn = DispatchSemaphore(value: 0)
        let handled = Atomic<Int>(0)
        let token = center.addObserver(forName: guarantee, on: worker) { _ in
            goOn.wait()
            handled.add(1, ordering: .relaxed)
        }
        // The handler waits for what happens after the posts: this hangs if a post waits for it.
        for _ in 0..<10 { XCTAssertEqual(center.post(name: guarantee).waiting, 1) }
        for _ in 0..<10 { goOn.signal() }
        try worker.stopAndWait()
        XCTAssertEqual(handled.load(ordering: .relaxed), 10)
        XCTAssertEqual(token.counts, .init(posted: 10, delivered: 10))
    }

    func testGuarantee04OnePostersNotificationsReachAnObserverInPostingOrder() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let last = Locked<[Int: Int]>([:])
        let faults = Atomic<Int>(0)
        let token = center.addObserver(forName: guarantee, on: worker, mapping: number(of:)) { value in
            let before = last.withLock { $0.updateValue(value, forKey: value / 100_000) }
            if let before, before >= value { faults.add(1, ordering: .relaxed) }
            // A nested run loop in the middle must not change the order.
            if value.isMultiple(of: 97) { RunLoop.runCurrentOnce() }
        }
        let posters = try (0..<4).map { try RunLoopThread.started("poster \($0)") }
        for (index, poster) in posters.enumerated() {
            try poster.perform {
                for place in 0..<2000 { center.post(number(index * 100_000 + place)) }
            }
        }
        for poster in posters { try poster.stopAndWait() }
        try worker.stopAndWait()
        XCTAssertEqual(token.counts.delivered, 8000)
        XCTAssertEqual(faults.load(ordering: .relaxed), 0)
    }

    func testGuarantee05ObserversOfOneThreadAreCalledInRegistrationOrder() throws {
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        let worker = try RunLoopThread.started("worker")
        let called = Locked<[Int]>([])
        let object = NSObject()
        // Of name and object, of the name, of any: found in different places.
        let tokens = (0..<60).map { index in
            center.addObserver(
                forName: index % 3 == 2 ? nil : guarantee, object: index % 3 == 0 ? object : nil, on: worker
            ) { _ in called.withLock { $0.append(index) } }
        }
        center.post(name: guarantee, object: object)
        try worker.perform(waitUntilDone: limit) {}
        XCTAssertEqual(called.withLock { $0 }, Array(0..<60))

        called.withLock { $0 = [] }
        foundation.post(name: guarantee, object: object)
        try worker.stopAndWait()
        XCTAssertEqual(called.withLock { $0.filter { $0 % 3 != 2 } }, (0..<60).filter { $0 % 3 != 2 })
        XCTAssertEqual(called.withLock { $0.filter { $0 % 3 == 2 } }, (0..<60).filter { $0 % 3 == 2 })
        XCTAssertEqual(tokens.map(\.counts.delivered), Array(repeating: 2, count: 60))
    }

    func testGuarantee06AfterCancelReturnsNoDeliveryBegins() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        for round in 0..<500 {
            let isCancelled = Atomic<Bool>.Box(false)
            let beganAfterwards = Atomic<Bool>.Box(false)
            let token = center.addObserver(forName: guarantee, on: round % 2 == 0 ? worker.reference : .postingThread) {
                _ in
                if isCancelled.value.load(ordering: .acquiring) {
                    beganAfterwards.value.store(true, ordering: .relaxed)
                }
            }
            let poster = Thread.posting(4) { center.post(name: guarantee) }
            try token.cancelAndWait(limit: limit)
            isCancelled.value.store(true, ordering: .releasing)
            poster.wait()
            try worker.perform(waitUntilDone: limit) {}
            XCTAssertFalse(beganAfterwards.value.load(ordering: .relaxed))
            let counts = token.counts
            XCTAssertEqual(counts.posted, counts.delivered + counts.cancelled)
        }
        try worker.stopAndWait()
    }

    func testGuarantee06AfterCancelAndWaitNoneIsRunning() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isRunning = Atomic<Bool>(false)
        let token = center.addObserver(forName: guarantee, on: worker) { _ in
            isRunning.store(true, ordering: .relaxed)
            began.signal()
            goOn.wait()
            isRunning.store(false, ordering: .relaxed)
        }
        center.post(name: guarantee)
        center.post(name: guarantee)
        began.wait()
        token.cancel()
        XCTAssertTrue(isRunning.load(ordering: .relaxed), "cancel does not wait")
        XCTAssertThrowsError(try token.cancelAndWait(limit: .zero)) {
            XCTAssertEqual($0 as? DeliveryError, .handlerStillRunning(observer: token.id, after: .zero))
        }
        goOn.signal()
        try token.cancelAndWait(limit: limit)
        XCTAssertFalse(isRunning.load(ordering: .relaxed))
        try worker.stopAndWait()
        XCTAssertEqual(token.counts, .init(posted: 2, delivered: 1, cancelled: 1))
    }

    func testGuarantee06AHandlerMayRemoveItselfAndWait() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        for thread in [worker.reference, .postingThread] {
            let token = Locked<ObserverToken?>(nil)
            let outcome = Locked<[String]>([])
            let observer = center.addObserver(forName: guarantee, on: thread) { [limit] _ in
                do {
                    try token.withLock { $0 }?.cancelAndWait(limit: limit)
                    outcome.withLock { $0.append("removed") }
                } catch {
                    outcome.withLock { $0.append("\(error)") }
                }
                center.post(name: guarantee)
            }
            token.withLock { $0 = observer }
            center.post(name: guarantee)
            center.post(name: guarantee)
            try worker.perform(waitUntilDone: limit) {}
            XCTAssertEqual(outcome.withLock { $0 }, ["removed"])
        }
        try worker.stopAndWait()
    }

    func testGuarantee06ADroppedTokenCancelsAndCancellingTwiceIsHarmless() throws {
        let center = ThreadedNotificationCenter()
        let handled = Atomic<Int>(0)
        var token: ObserverToken? = center.addObserver(forName: guarantee, on: .postingThread) { _ in
            handled.add(1, ordering: .relaxed)
        }
        center.post(name: guarantee)
        XCTAssertNotNil(token)
        token = nil
        center.post(name: guarantee)
        XCTAssertEqual(handled.load(ordering: .relaxed), 1)
        XCTAssertEqual(center.registrations.observers, 0)

        let one = center.addObserver(forName: guarantee, on: .postingThread) { _ in }
        one.cancel()
        let other = center.addObserver(forName: guarantee, on: .postingThread) { _ in handled.add(1, ordering: .relaxed)
        }
        one.cancel()
        try one.cancelAndWait(limit: limit)
        XCTAssertNotEqual(one.id, other.id)
        XCTAssertEqual(center.post(name: guarantee).delivered, 1, "a stranger was removed")
        other.cancel()
    }

    func testGuarantee07ANewRegistrationNeverReceivesOlderNotifications() throws {
        let center = ThreadedNotificationCenter()
        let handled = Locked<[String]>([])
        @Sendable func observe(_ who: String) -> ObserverToken {
            center.addObserver(forName: guarantee, on: .current, mapping: number(of:)) { value in
                handled.withLock { $0.append("\(who) \(value)") }
            }
        }
        let old = observe("old")
        let poster = Thread.posting(1) { _ = center.post(number(1)) }
        poster.wait()
        old.cancel()
        let new = observe("new")
        Thread.posting(1) { _ = center.post(number(2)) }.wait()
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, ["new 2"])
        XCTAssertEqual(old.counts, .init(posted: 1, cancelled: 1))
        XCTAssertEqual(new.counts, .init(posted: 1, delivered: 1))
    }

    func testGuarantee08AHandlerMayPostAddRemovePerformAndWait() throws {
        let center = ThreadedNotificationCenter()
        let (worker, other) = (try RunLoopThread.started("worker"), try RunLoopThread.started("other"))
        let inner = Notification.Name("inner")
        let log = Locked<[String]>([])
        let innerToken = center.addObserver(forName: inner, on: other) { _ in log.withLock { $0.append("inner") } }
        let token = center.addObserver(forName: guarantee, on: worker) { [limit] _ in
            let added = center.addObserver(forName: inner, on: .postingThread) { _ in
                log.withLock { $0.append("added") }
            }
            do {
                try center.post(Notification(name: inner), waitUntilDelivered: limit)
                let value = try other.perform(waitUntilDone: limit) { 42 }
                log.withLock { $0.append("\(value)") }
                try worker.perform { log.withLock { $0.append("performed") } }
            } catch {
                log.withLock { $0.append("\(error)") }
            }
            added.cancel()
        }
        // The tracer is foreign code too, and may post.
        let traced = Notification.Name("traced")
        let tracedToken = center.addObserver(forName: traced, on: .postingThread) { _ in }
        DeliveryEvent.tracer = { event in if event.name == inner { center.post(name: traced) } }
        center.post(name: guarantee)
        try worker.perform(waitUntilDone: limit) {}
        DeliveryEvent.tracer = nil
        try worker.stopAndWait()
        try other.stopAndWait()
        XCTAssertEqual(log.withLock { $0.sorted() }, ["42", "added", "inner", "performed"])
        XCTAssertGreaterThan(tracedToken.counts.delivered, 0)
        XCTAssertEqual(token.counts.delivered, 1)
        XCTAssertEqual(innerToken.counts.delivered, 1)
    }

    func testGuarantee09WhatIsNotForTheModeWaitsForIt() throws {
        let center = ThreadedNotificationCenter()
        let modal = RunLoop.Mode("modal")
        let handled = Locked<[String]>([])
        let tokens = [("common", RunLoop.Mode.common), ("modal", modal), ("default", .default)].map { who, mode in
            center.addObserver(
                forName: guarantee, on: .current, options: ObserverOptions(modes: [mode]), mapping: number(of:)
            ) { value in handled.withLock { $0.append("\(who) \(value)") } }
        }
        // The run loop does not run: the thread counts as in the default mode.
        Thread.posting(1) { _ = center.post(number(1)) }.wait()
        XCTAssertEqual(handled.withLock { $0 }, [])
        XCTAssertEqual(center.post(number(2)).waiting, 3)
        RunLoop.runCurrentOnce()
        XCTAssertEqual(handled.withLock { $0 }, ["common 1", "default 1", "common 2", "default 2"])
        XCTAssertEqual(center.post(number(3)), PostReport(delivered: 2, waiting: 1))

        handled.withLock { $0 = [] }
        _ = RunLoop.current.run(mode: modal, before: Date())
        XCTAssertEqual(handled.withLock { $0 }, ["modal 1", "modal 2", "modal 3"])
        XCTAssertEqual(tokens.map(\.counts.delivered), [3, 3, 3])
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
        XCTAssertEqual(token.counts, .init(posted: 3, pending: 3))
        try worker.stopAndWait()
        XCTAssertEqual(token.counts, .init(posted: 3, targetGone: 3))
        XCTAssertEqual(center.post(name: guarantee), PostReport(targetGone: 1))
        XCTAssertEqual(handled.load(ordering: .relaxed), 0)
        XCTAssertThrowsError(try worker.perform {}) {
            XCTAssertEqual($0 as? DeliveryError, .threadStopped(thread: "worker"))
        }
        XCTAssertThrowsError(try center.post(Notification(name: guarantee), waitUntilDelivered: limit)) {
            XCTAssertEqual($0 as? DeliveryError, .threadEnded(thread: "\(worker.identity!)"))
        }
    }

    func testGuarantee11ADrainLeavesNothingBehindAndAHandlerThatKeepsPostingDoesNotStarveTheRunLoop() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let handled = Atomic<Int>(0)
        let token = center.addObserver(forName: guarantee, on: worker) { _ in handled.add(1, ordering: .relaxed) }
        let (blocked, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        try worker.perform {
            blocked.signal()
            goOn.wait()
        }
        blocked.wait()
        // Any number of posts, one signal.
        let events = try tracing {
            for _ in 0..<1000 { center.post(name: guarantee) }
        }
        XCTAssertEqual(events.count { $0.stage == .signal }, 1)
        goOn.signal()
        try worker.perform(waitUntilDone: limit) {}
        XCTAssertEqual(handled.load(ordering: .relaxed), 1000)
        XCTAssertEqual(token.counts.pending, 0)

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
        wait(for: [served], timeout: 20)
        isOver.store(true, ordering: .relaxed)
        try worker.stopAndWait()
        XCTAssertGreaterThan(restless.counts.delivered, 0)
    }

    func testGuarantee12ABoundedMailboxAppliesItsPolicyAndCounts() throws {
        let center = ThreadedNotificationCenter()
        func run(_ policy: OverflowPolicy) throws -> (handled: [Int], counts: DeliveryCounts, reports: [PostReport]) {
            let worker = try RunLoopThread.started("worker")
            let handled = Locked<[Int]>([])
            let token = center.addObserver(
                forName: guarantee, on: worker, options: ObserverOptions(overflow: policy),
                mapping: { ($0.userInfo?["place"] as? Int) }, using: { value in handled.withLock { $0.append(value) } })
            let (blocked, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            try worker.perform {
                blocked.signal()
                goOn.wait()
            }
            blocked.wait()
            let reports = (1...6).map { place in
                center.post(name: guarantee, object: place % 2, userInfo: ["place": place])
            }
            goOn.signal()
            try worker.stopAndWait()
            return (handled.withLock { $0 }, token.counts, reports)
        }
        let oldest = try run(.dropOldest(capacity: 2))
        XCTAssertEqual(oldest.handled, [5, 6])
        XCTAssertEqual(oldest.counts, .init(posted: 6, delivered: 2, dropped: 4))
        let newest = try run(.dropNewest(capacity: 2))
        XCTAssertEqual(newest.handled, [1, 2])
        XCTAssertEqual(newest.counts, .init(posted: 6, delivered: 2, dropped: 4))
        XCTAssertEqual(newest.reports.map(\.dropped), [0, 0, 1, 1, 1, 1])
        let latest = try run(.keepLatest)
        XCTAssertEqual(latest.handled, [5, 6])
        XCTAssertEqual(latest.counts, .init(posted: 6, delivered: 2, coalesced: 4))
        let refused = try run(.refuse(capacity: 2))
        XCTAssertEqual(refused.handled, [1, 2])
        XCTAssertEqual(refused.reports.map(\.refused), [0, 0, 1, 1, 1, 1])
        let blocked = try run(.block(capacity: 2, limit: .milliseconds(1)))
        XCTAssertEqual(blocked.handled, [1, 2])
        XCTAssertEqual(blocked.counts, .init(posted: 6, delivered: 2, dropped: 4))
        let unbounded = try run(.unbounded)
        XCTAssertEqual(unbounded.handled, [1, 2, 3, 4, 5, 6])
    }

    func testGuarantee12ABlockingPostWaitsForRoomAndLosesNothing() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let handled = Locked<[Int]>([])
        let token = center.addObserver(
            forName: guarantee, on: worker, options: ObserverOptions(overflow: .block(capacity: 2, limit: limit)),
            mapping: number(of:)
        ) { value in handled.withLock { $0.append(value) } }
        let posters = (0..<4).map { poster in
            Thread.posting(1) {
                for place in 0..<500 { center.post(number(poster * 1000 + place)) }
            }
        }
        for poster in posters { poster.wait() }
        try worker.stopAndWait()
        XCTAssertEqual(token.counts, .init(posted: 2000, delivered: 2000))
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
        let result = try a.perform(waitUntilDone: limit) { [limit] in
            try b.perform(waitUntilDone: limit) {
                do throws(DeliveryError) {
                    // main waits for A, A for B, and B would wait for main.
                    try center.post(Notification(name: guarantee), waitUntilDelivered: limit)
                } catch let deadlock {
                    error.withLock { $0 = deadlock }
                }
                return "B went on"
            } + ", A too"
        }
        XCTAssertEqual(result, "B went on, A too")
        guard case .waitWouldDeadlock(let cycle) = error.withLock({ $0 }) else {
            return XCTFail("\(String(describing: error.withLock { $0 }))")
        }
        XCTAssertEqual(cycle.map(\.thread.name), ["B", "main", "A"])
        XCTAssertTrue(cycle.allSatisfy { $0.file.hasSuffix("GuaranteeTests.swift") && $0.line > 0 })
        XCTAssertEqual(Set(cycle.map(\.line)).count, 3)
        XCTAssertTrue(cycle[0].waitsFor.contains("{number = 1, name = main} to handle guarantee"), cycle[0].waitsFor)
        XCTAssertEqual(token.counts.posted, 0, "nothing was posted")
        XCTAssertTrue(ThreadWaits.isEmpty)
        try a.stopAndWait()
        try b.stopAndWait()
    }

    func testGuarantee14EachPostMeetsOneFateForEachObserverAndTheEventsSaySo() throws {
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
            let counts = token.counts
            XCTAssertEqual(counts.pending, 0)
            XCTAssertEqual(
                counts.posted,
                counts.delivered + counts.coalesced + counts.dropped + counts.cancelled + counts.targetGone)
            let fatesOfPosts = met[token.id] ?? [:]
            XCTAssertEqual(fatesOfPosts.count, counts.posted)
            XCTAssertTrue(fatesOfPosts.values.allSatisfy { $0.count == 1 }, "\(fatesOfPosts)")
            let all = fatesOfPosts.values.flatMap(\.self)
            XCTAssertEqual(all.count { $0 == .deliver }, counts.delivered)
            XCTAssertEqual(all.count { $0 == .coalesce }, counts.coalesced)
            XCTAssertEqual(all.count { $0 == .drop }, counts.dropped)
            XCTAssertEqual(all.count { $0 == .cancel }, counts.cancelled)
            XCTAssertEqual(all.count { $0 == .targetGone }, counts.targetGone)
        }
        XCTAssertEqual(tokens.last?.counts.targetGone, 100)
    }
}
