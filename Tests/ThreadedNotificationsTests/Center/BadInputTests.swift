import Foundation
import SharedTesting
import Synchronization
import Testing

@testable import ThreadedNotifications

private let posted = Notification.Name("bad input")

/// The results of wrong or extreme arguments.
@Suite("Bad input", .timeLimit(.minutes(10)))
struct BadInputTests {
    @Test("cancelling a token removes its observer from its own center only, and once")
    func tokenOfAnotherCenter() {
        let (one, other) = (ThreadedNotificationCenter(), ThreadedNotificationCenter())
        let tokens = [one, other].map { $0.addObserver(forName: posted, on: .postingThread) { _ in } }
        tokens[0].cancel()
        tokens[0].cancel()
        #expect(one.post(name: posted) == DeliveryCounters())
        #expect(other.post(name: posted).delivered == 1)
        #expect(tokens[1].counters.delivered == 1)
    }

    @Test("a negative timeout counts as zero")
    func negativeTimeout() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let (hasBegun, resume) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let token = center.addObserver(forName: posted, on: worker) { _ in
            hasBegun.signal()
            resume.wait()
        }
        center.post(name: posted)
        hasBegun.wait()
        #expect(throws: DeliveryError.self) {
            try center.postAndWait(Notification(name: posted), timeout: .seconds(-5))
        }
        #expect(throws: DeliveryError.handlerStillRunning(observer: token.id, after: .seconds(-5))) {
            try token.cancelAndWait(timeout: .seconds(-5))
        }
        #expect(throws: DeliveryError.threadStillRunning(thread: "worker", after: .seconds(-5))) {
            try worker.waitUntilFinished(timeout: .seconds(-5))
        }
        resume.signal()
        resume.signal()
        try worker.stopAndWait()
        let block = try #require(try? TargetThread.postingThread.perform(after: .seconds(-5)) {})
        #expect(block.outcome == .delivered || block.outcome == .waiting)
    }

    @Test("the longest possible timeout does not overflow")
    func longestTimeout() throws {
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

    @Test("a capacity of 0 stops the program with a message")
    func zeroCapacity() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ThreadedNotificationCenter().addObserver(
                forName: Notification.Name("x"), on: .main,
                options: ObserverOptions(overflow: .dropOldest(capacity: 0))
            ) { _ in }
        }
        #expect(Self.text(result).contains("a capacity of 0 holds nothing. It must be at least 1"))
    }

    @Test("an empty set of run loop modes stops the program with a message")
    func noModes() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ThreadedNotificationCenter().addObserver(
                forName: Notification.Name("x"), on: .main, options: ObserverOptions(modes: [])
            ) { _ in }
        }
        #expect(Self.text(result).contains("modes is empty, so nothing could be delivered"))
    }

    @Test("an object that is neither of a class nor hashable stops the program with a message")
    func incomparableObject() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            struct NotHashable {}
            _ = ThreadedNotificationCenter().addObserver(
                forName: Notification.Name("x"), object: NotHashable(), on: .main
            ) { _ in }
        }
        #expect(Self.text(result).contains("neither of a class nor Hashable"))
    }

    @Test("posts nested 10,000 deep are handled at most 101 deep; the rest goes through the mailbox")
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
        #expect(isDone.wait(timeout: .now() + TestTimeout.seconds) == .success)
        try worker.stopAndWait()
        #expect(token.counters == DeliveryCounters(delivered: 10_000))
        #expect(deepest.withLock { $0.ever } <= 101)
        last.cancel()
    }

    @Test("endless nesting of handlers on the posting thread stops the program with a message")
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
        "endless nesting of at-once deliveries or of waiting posts stops the program with a message",
        arguments: ["at once", "waiting"])
    func deepAtOnceOrWaiting(_ how: String) async {
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

    @Test("observing on the current thread stops the program with a message in an actor that has no thread")
    func actorWithoutThread() async {
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

    @Test("10,000 observers of one name are each called once, until they are removed")
    func manyObservers() {
        let center = ThreadedNotificationCenter()
        let called = Atomic<Int>.Box(0)
        var tokens = (0..<10_000).map { _ in
            center.addObserver(forName: posted, on: .postingThread) { _ in
                called.value.add(1, ordering: .relaxed)
            }
        }
        #expect(center.post(name: posted).delivered == 10_000)
        #expect(called.value.load(ordering: .relaxed) == 10_000)
        for index in stride(from: 0, to: 10_000, by: 2) { tokens[index].cancel() }
        #expect(center.post(name: posted).delivered == 5_000)
        tokens.removeAll()
        #expect(center.registrations.observers == 0)
    }

    private static func text(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }
}
