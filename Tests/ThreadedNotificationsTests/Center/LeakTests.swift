import Foundation
import SharedTesting
import Synchronization
import XCTest

@testable import ThreadedNotifications

private let posted = Notification.Name("leak")

/// Ended threads and removed observers leave nothing behind (guarantee 10).
final class LeakTests: XCTestCase {
    func testThreadsThatObserveAndEndLeaveNothingBehind() throws {
        let threads = TestRounds.rounds(300, stress: 10_000)
        let foundation = NotificationCenter()
        let center = ThreadedNotificationCenter(capturing: foundation)
        let released = Atomic<Int>(0)
        final class Object {
            func handle(_ notification: Notification) {}
        }
        func startAndEnd(_ threads: Int) throws {
            for index in 0..<threads {
                let name = Notification.Name("leak \(index % 10)")
                let observe: @Sendable () -> Void = {
                    let held = ReleaseRecorder { released.add(1, ordering: .relaxed) }
                    let token = center.addObserver(forName: name, on: .current) { _ in withExtendedLifetime(held) {} }
                    center.addObserver(Object(), forName: name, on: .current) { $0.handle($1) }
                    foundation.post(name: name, object: nil)
                    withExtendedLifetime(token) {}
                    // A cancelled delayed block, when the thread ends.
                    _ = try? CurrentThread.current.perform(after: .seconds(3600)) {}.cancel()
                }
                if index % 2 == 0 {
                    Thread.posting(1, observe).wait()
                } else {
                    let worker = try RunLoopThread.started("worker")
                    try worker.perform(observe)
                    try worker.stopAndWait()
                }
            }
        }
        try startAndEnd(threads / 10)
        let (descriptors, memory) = (ProcessUsage.descriptors, ProcessUsage.residentKilobytes)
        try startAndEnd(threads)
        // The last threads may not have closed theirs yet. A leak would leave one or more for each thread.
        XCTAssertLessThan(ProcessUsage.descriptors, descriptors + threads / 10)
        XCTAssertLessThan(ProcessUsage.residentKilobytes - memory, 20_000, "kB for the threads")
        XCTAssertLessThan(center.registrations.observers, 200, "some observers of deallocated objects are left")
        XCTAssertLessThanOrEqual(center.registrations.captured, 10)
        XCTAssertEqual(released.load(ordering: .relaxed), threads / 10 + threads)
        weak var last: RunLoopThread?
        do {
            let worker = try RunLoopThread.started("worker")
            last = worker
            try worker.stopAndWait()
        }
        XCTAssertNil(last)
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
