import Foundation
import Synchronization
import Testing

@testable import ThreadedNotifications

private let posted = Notification.Name("bad input")

/// What somebody may get wrong, and what comes of it.
@Suite("Bad input", .timeLimit(.minutes(10)))
struct BadInputTests {
    @Test("a token has no effect on another center")
    func tokenOfAnotherCenter() {
        let (one, other) = (ThreadedNotificationCenter(), ThreadedNotificationCenter())
        let tokens = [one, other].map { $0.addObserver(forName: posted, on: .postingThread) { _ in } }
        tokens[0].cancel()
        tokens[0].cancel()
        #expect(one.post(name: posted) == DeliveryCounters())
        #expect(other.post(name: posted).delivered == 1)
        #expect(tokens[1].counters.delivered == 1)
    }

    @Test("a negative limit counts as zero")
    func negativeLimit() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let (began, goOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let token = center.addObserver(forName: posted, on: worker) { _ in
            began.signal()
            goOn.wait()
        }
        center.post(name: posted)
        began.wait()
        #expect(throws: DeliveryError.self) {
            try center.postAndWait(Notification(name: posted), timeout: .seconds(-5))
        }
        #expect(throws: DeliveryError.handlerStillRunning(observer: token.id, after: .seconds(-5))) {
            try token.cancelAndWait(timeout: .seconds(-5))
        }
        #expect(throws: DeliveryError.threadStillRunning(thread: "worker", after: .seconds(-5))) {
            try worker.waitUntilFinished(timeout: .seconds(-5))
        }
        goOn.signal()
        goOn.signal()
        try worker.stopAndWait()
        let block = try #require(try? TargetThread.postingThread.perform(after: .seconds(-5)) {})
        #expect(block.outcome == .delivered || block.outcome == .waiting)
    }

    @Test("limits of years do not overflow")
    func endlessLimit() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let token = center.addObserver(
            forName: posted, on: worker,
            options: ObserverOptions(overflow: .block(capacity: 1, timeout: .seconds(Int64.max)))
        ) { _ in }
        for _ in 0..<100 { center.post(name: posted) }
        try center.postAndWait(Notification(name: posted), timeout: .seconds(Int64.max))
        try worker.performAndWait(timeout: .seconds(Int64.max)) {}
        try worker.perform(after: .seconds(Int64.max)) {}.cancel()
        worker.stop()
        try worker.waitUntilFinished(timeout: .seconds(Int64.max))
        #expect(token.counters == DeliveryCounters(delivered: 101))
    }

    @Test("a capacity below 1 stops the program and says so")
    func capacityOfNothing() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ThreadedNotificationCenter().addObserver(
                forName: Notification.Name("x"), on: .main,
                options: ObserverOptions(overflow: .dropOldest(capacity: 0))
            ) { _ in }
        }
        #expect(Self.text(result).contains("a capacity of 0 holds nothing. It must be at least 1"))
    }

    @Test("no run loop mode at all stops the program and says so")
    func noModes() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ThreadedNotificationCenter().addObserver(
                forName: Notification.Name("x"), on: .main, options: ObserverOptions(modes: [])
            ) { _ in }
        }
        #expect(Self.text(result).contains("modes is empty, so nothing could be delivered"))
    }

    @Test("an object that nothing can be compared with stops the program and says so")
    func incomparableObject() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            struct NotHashable {}
            _ = ThreadedNotificationCenter().addObserver(
                forName: Notification.Name("x"), object: NotHashable(), on: .main
            ) { _ in }
        }
        #expect(Self.text(result).contains("neither of a class nor Hashable"))
    }

    @Test("posts nested 10,000 deep on a thread join its mailbox before the stack runs out")
    func deepPosts() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let deepest = Locked((now: 0, ever: 0))
        let token = center.addObserver(
            forName: posted, on: worker, transform: { $0.object as? Int },
            using: { level in
                deepest.withLock { deepest in
                    deepest.now += 1
                    deepest.ever = max(deepest.ever, deepest.now)
                }
                if level < 10_000 { center.post(name: posted, object: level + 1) }
                deepest.withLock { $0.now -= 1 }
            })
        let isDone = DispatchSemaphore(value: 0)
        let last = center.addObserver(forName: posted, object: 10_000, on: worker) { _ in isDone.signal() }
        center.post(name: posted, object: 1)
        #expect(isDone.wait(timeout: .now() + TestLimit.seconds) == .success)
        try worker.stopAndWait()
        #expect(token.counters == DeliveryCounters(delivered: 10_000))
        #expect(deepest.withLock { $0.ever } <= 101)
        last.cancel()
    }

    @Test("posts nested 10,000 deep in plain delivery stop the program and say so")
    func deepPlainPosts() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let center = ThreadedNotificationCenter()
            let name = Notification.Name("endless")
            let token = center.addObserver(forName: name, on: .postingThread) { _ in center.post(name: name) }
            center.post(name: name)
            token.cancel()
        }
        #expect(Self.text(result).contains("endless is posted by its own handler, 250 deep"))
    }

    @Test(
        "at-once deliveries and waits nested 10,000 deep stop the program and say so",
        arguments: ["at once", "waiting"])
    func deepWithoutTurn(_ how: String) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [how] in
            Self.nestWithoutEnd(how)
        }
        #expect(Self.text(result).contains("250 deep"))
    }

    private static func nestWithoutEnd(_ how: String) {
        let center = ThreadedNotificationCenter()
        let name = Notification.Name("endless")
        let token = center.addObserver(
            forName: name, on: .current, options: ObserverOptions(sameThread: how == "at once" ? .atOnce : .ordered)
        ) { _ in
            _ = try? center.postAndWait(Notification(name: name), timeout: .seconds(1))
            if how == "waiting" { center.post(name: name) }
        }
        center.post(name: name)
        token.cancel()
    }

    @Test("a handler on the current thread of an actor that has none stops the program and says so")
    func actorOfNoThread() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            actor Roaming {
                var count = 0
                func observe() -> ObserverToken {
                    ThreadedNotificationCenter().addObserver(forName: nil, on: .current) { _ in self.count += 1 }
                }
            }
            _ = await Roaming().observe()
        }
        #expect(Self.text(result).contains("Roaming is bound to no thread"))
    }

    @Test("100,000 observers of one name are each called once, and removed")
    func manyObservers() {
        let center = ThreadedNotificationCenter()
        let called = Atomic<Int>.Box(0)
        var tokens = (0..<100_000).map { _ in
            center.addObserver(forName: posted, on: .postingThread) { _ in
                called.value.add(1, ordering: .relaxed)
            }
        }
        #expect(center.post(name: posted).delivered == 100_000)
        #expect(called.value.load(ordering: .relaxed) == 100_000)
        for index in stride(from: 0, to: 100_000, by: 2) { tokens[index].cancel() }
        #expect(center.post(name: posted).delivered == 50_000)
        tokens.removeAll()
        #expect(center.registrations.observers == 0)
    }

    private static func text(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }
}
