import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("leak")

/// Ended threads and removed observers leave nothing behind (guarantee 10).
final class LeakTests: XCTestCase {
    func testThreadsThatObserveAndEndLeaveNothingBehind() throws {
        let threads = TestRounds.rounds(1_000, stress: 10_000)
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        let released = Atomic<Int>(0)
        let log = Locked<[String]>([])
        final class Object {
            func handle(_ notification: Notification) {}
        }
        func startAndEnd(_ threads: Int) {
            for index in 0..<threads {
                Thread.posting(1) {
                    let held = ReleaseRecorder { released.add(1, ordering: .relaxed) }
                    let name = Notification.Name("leak \(index % 100)")
                    let token = center.addObserver(forName: name, on: .current) { _ in withExtendedLifetime(held) {} }
                    center.addObserver(Object(), forName: name, on: .current) { $0.handle($1) }
                    if index % 3 == 0 { RunLoop.runCurrentOnce() }
                    foundation.post(name: name, object: nil)
                    withExtendedLifetime(token) {}
                    // A cancelled delayed block, when the thread ends.
                    if index % 2 == 0 { _ = try? CurrentThread.current.perform(after: .seconds(3600)) {}.cancel() }
                }.wait()
            }
        }
        startAndEnd(threads / 10)
        let (descriptors, memory) = (ProcessUsage.descriptors, ProcessUsage.residentKilobytes)
        startAndEnd(threads - threads / 10)
        // The last threads may not have closed theirs yet. A leak would leave one or more for each thread.
        XCTAssertLessThan(ProcessUsage.descriptors, descriptors + threads / 10)
        XCTAssertLessThan(ProcessUsage.residentKilobytes - memory, 40_000, "kB for the threads")
        XCTAssertLessThan(
            center.registrations.observers, 100 * 20, "observers of deallocated objects are removed from time to time")
        XCTAssertLessThanOrEqual(center.registrations.captured, 100)
        XCTAssertEqual(released.load(ordering: .relaxed), threads)
        XCTAssertEqual(log.withLock { $0 }, [])
    }

    func testRunLoopThreadsThatEndLeaveNothingBehind() throws {
        let center = ThreadedNotificationCenter()
        func startAndEnd(_ threads: Int) throws {
            for _ in 0..<threads {
                let worker = try RunLoopThread.started("worker")
                let token = center.addObserver(forName: posted, on: worker) { _ in }
                center.post(name: posted)
                try worker.stopAndWait()
                XCTAssertEqual(token.counters, .init(delivered: 1))
            }
        }
        try startAndEnd(50)
        let (descriptors, memory) = (ProcessUsage.descriptors, ProcessUsage.residentKilobytes)
        weak var last: RunLoopThread?
        try startAndEnd(200)
        do {
            let worker = try RunLoopThread.started("worker")
            let token = center.addObserver(forName: posted, on: worker) { _ in }
            last = worker
            try worker.stopAndWait()
            token.cancel()
        }
        XCTAssertNil(last)
        XCTAssertLessThan(ProcessUsage.descriptors, descriptors + 20)
        XCTAssertLessThan(ProcessUsage.residentKilobytes - memory, 10_000, "kB for 200 threads")
    }

    func testANotificationOfARemovedObserverIsReleasedByTheNextDrain() throws {
        let center = ThreadedNotificationCenter()
        let released = Atomic<Bool>.Box(false)
        let token = center.addObserver(forName: posted, on: .main) { _ in }
        Thread.posting(1) {
            center.post(
                name: posted,
                userInfo: ["held": ReleaseRecorder { released.value.store(true, ordering: .relaxed) }])
        }.wait()
        token.cancel()
        XCTAssertFalse(released.value.load(ordering: .relaxed))
        RunLoop.runCurrentOnce()
        XCTAssertTrue(released.value.load(ordering: .relaxed))
        XCTAssertEqual(token.counters, .init(cancelled: 1))
    }
}
