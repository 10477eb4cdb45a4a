import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("shape")

/// The kinds of handlers, and where each is called and released.
final class ObserverHandlerTests: XCTestCase {
    private let timeout = TestTimeout.hang

    func testAnObservingObjectIsNotRetainedAndItsDeallocationRemovesTheObserver() throws {
        let center = ThreadedNotificationCenter()
        let log = Locked<[String]>([])
        var object: MethodObserver? = MethodObserver(log)
        center.addObserver(object!, forName: posted, on: .current) { $0.handle($1) }
        Thread.posting(1) { center.post(name: posted) }.wait()
        RunLoop.runCurrentOnce()
        XCTAssertEqual(center.post(name: posted).delivered, 1)
        XCTAssertEqual(center.registrations.observers, 1)

        Thread.posting(1) { center.post(name: posted) }.wait()
        object = nil
        RunLoop.runCurrentOnce()
        XCTAssertEqual(log.withLock { $0 }, ["handled", "handled", "deallocated"])
        XCTAssertEqual(center.post(name: posted), DeliveryCounters(), "it no longer matches")
        XCTAssertEqual(center.registrations.observers, 0)
    }

    func testAnObservingObjectIsRetainedWhileItsHandlerRuns() throws {
        let center = ThreadedNotificationCenter()
        let log = Locked<[String]>([])
        let owner = Owner()
        owner.object = MethodObserver(log) { owner.object = nil }
        center.addObserver(owner.object!, forName: posted, on: .current) { $0.handle($1) }
        center.post(name: posted)
        XCTAssertEqual(log.withLock { $0 }, ["handled", "deallocated"])
    }

    func testObserversOfDeallocatedObjectsAreRemovedEvenIfNothingIsPosted() throws {
        let center = ThreadedNotificationCenter()
        let log = Locked<[String]>([])
        for index in 0..<1_000 {
            center.addObserver(MethodObserver(log), forName: posted, on: .current) { $0.handle($1) }
            let own = Notification.Name("name \(index)")
            center.addObserver(MethodObserver(log), forName: own, on: .current) { $0.handle($1) }
        }
        XCTAssertLessThan(center.registrations.observers, 100)
    }

    @MainActor
    func testAClassOfTheMainActorMayObserveWithMethodsAndClosures() {
        let center = ThreadedNotificationCenter()
        let object = MainActorObserver()
        object.observe(center)
        Thread.posting(1) { center.post(name: posted) }.wait()
        RunLoop.runCurrentOnce()
        XCTAssertEqual(object.handled, 2)
        withExtendedLifetime(object) {}
    }

    func testAnActorsHandlerRunsIsolatedOnTheActorsThread() throws {
        let center = ThreadedNotificationCenter()
        let worker = try RunLoopThread.started("worker")
        let parser = Parser(worker)
        let token = center.addObserver(
            forName: posted, isolatedTo: parser, transform: { $0.object as? Int },
            using: { parser, value in
                parser.add(value, worker.isCurrent)
            })
        for value in 1...3 { center.post(name: posted, object: value) }
        let result = Locked<[Int]>([])
        let done = expectation(description: "asked")
        Task {
            let values = await parser.values
            result.withLock { $0 = values }
            done.fulfill()
        }
        wait(for: [done], timeout: TestTimeout.seconds)
        XCTAssertEqual(result.withLock { $0 }, [1, 2, 3], "the task's job was enqueued after the notifications")
        token.cancel()
        try worker.stopAndWait()
    }
}

private final class Owner {
    var object: MethodObserver?
}

@MainActor
private final class MainActorObserver {
    var handled = 0
    private var token: ObserverToken?

    func observe(_ center: ThreadedNotificationCenter) {
        center.addObserver(self, forName: posted, on: .current) { $0.handle($1) }
        token = center.addObserver(forName: posted, on: .current, using: { [weak self] _ in self?.handled += 1 })
    }

    private func handle(_ notification: Notification) {
        MainActor.assertIsolated()
        handled += 1
    }
}

private actor Parser {
    private let thread: RunLoopThread
    private(set) var values: [Int] = []

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ thread: RunLoopThread) {
        self.thread = thread
    }

    func add(_ value: Int, _ isOnThread: Bool) {
        XCTAssertTrue(isOnThread)
        values.append(value)
    }
}
