import Foundation
import SharedTesting
import XCTest

@testable import PostingQueues
@testable import ThreadedNotifications

/// Idle detection needs a descriptor. The system may have none left.
final class PostingWithoutDescriptorsTests: XCTestCase {
    private let center = NotificationCenter()
    private let posted = Locked<[String]>([])
    private var thread: RunLoopThread!
    private var limits = rlimit()
    private var allThatAreLeft: [EventDescriptor] = []

    override func setUpWithError() throws {
        thread = try RunLoopThread.started("without descriptors")
        // By then the run loop has the descriptors that it needs.
        try thread.performAndWait(timeout: TestTimeout.hang) {}
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        var few = rlimit(rlim_cur: min(limits.rlim_cur, 512), rlim_max: limits.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &few)
        while let descriptor = EventDescriptor() { allThatAreLeft.append(descriptor) }
    }

    override func tearDownWithError() throws {
        allThatAreLeft = []
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
        try thread.stopAndWait()
    }

    private func observe(_ name: String, _ handle: @escaping @Sendable () -> Void = {}) {
        let posted = posted
        _ = center.addObserver(forName: Notification.Name(name), object: nil, queue: nil) { _ in
            posted.withLock { $0.append(name) }
            handle()
        }
    }

    private func enqueueWhenIdle(_ names: [String], to queue: PostingQueue) throws {
        try thread.perform {
            for name in names { queue.enqueue(Notification(name: Notification.Name(name)), postingStyle: .whenIdle) }
        }
    }

    func testAllIdleNotificationsArePosted() throws {
        // The main thread's run loop may need descriptors to wait for an expectation.
        let isOver = DispatchSemaphore(value: 0)
        let queue = PostingQueue(center: center, on: thread)
        for name in ["first", "second"] { observe(name) }
        observe("third") { isOver.signal() }
        try enqueueWhenIdle(["first", "second", "third"], to: queue)
        XCTAssertEqual(isOver.wait(timeout: .now() + TestTimeout.seconds), .success)
        XCTAssertEqual(posted.withLock { $0 }, ["first", "second", "third"])
    }

    func testHandlersMayRunTheRunLoop() throws {
        let isOver = DispatchSemaphore(value: 0)
        let queue = PostingQueue(center: center, on: thread)
        observe("first") { [posted] in
            queue.enqueue(Notification(name: Notification.Name("at once")), postingStyle: .asap)
            RunLoop.runCurrentOnce()
            XCTAssertEqual(posted.withLock { $0 }, ["first", "at once"])
            isOver.signal()
        }
        observe("at once")
        try enqueueWhenIdle(["first"], to: queue)
        XCTAssertEqual(isOver.wait(timeout: .now() + TestTimeout.seconds), .success)
    }

    func testARunReturnsAfterAPost() throws {
        observe("first")
        let queue = PostingQueue(center: center, on: thread)
        let isOver = DispatchSemaphore(value: 0)
        try thread.perform { [posted] in
            queue.enqueue(Notification(name: Notification.Name("first")), postingStyle: .whenIdle)
            let deadline = Date(timeIntervalSinceNow: TestTimeout.seconds)
            while posted.withLock({ $0.isEmpty }), deadline.timeIntervalSinceNow > 0 {
                _ = RunLoop.current.run(mode: .default, before: deadline)
            }
            XCTAssertGreaterThan(deadline.timeIntervalSinceNow, 0)
            XCTAssertEqual(ThreadPostings.current.poster.observerDepth, 0)
            isOver.signal()
        }
        XCTAssertEqual(isOver.wait(timeout: .now() + TestTimeout.seconds), .success)
    }
}
