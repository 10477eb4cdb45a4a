import Dispatch
import Foundation
import SharedTesting
import XCTest

@testable import ThreadedNotifications

final class LockedTests: XCTestCase {
    private struct Failure: Error {}

    func testThreadsAccessTheValueOneAfterTheOther() {
        let locked = Locked((count: 0, list: [Int]()))
        let (threads, steps) = (8, 5_000)
        let (areReady, begin) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let all = Thread.posting(threads) {
            areReady.signal()
            begin.wait()
            for step in 0..<steps {
                if step % 2 == 0 {
                    locked.withLock { $0.count += 1 }
                } else {
                    locked.lock()
                    locked.valueWhileLocked.count += 1
                    locked.valueWhileLocked.list.append(step)
                    locked.unlock()
                }
            }
        }
        for _ in 0..<threads { areReady.wait() }
        for _ in 0..<threads { begin.signal() }
        all.wait()
        let (count, list) = locked.withLock { ($0.count, $0.list.count) }
        XCTAssertTrue(count == threads * steps && list == threads * steps / 2)
    }

    func testALockThatAnotherThreadHoldsIsNotTakenWithinTheTimeoutButAfterItIsUnlocked() {
        let locked = Locked(0)
        let (isHeld, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holder = Thread.posting(1) {
            locked.withLock { value in
                value = 1
                isHeld.signal()
                release.wait()
                value = 2
            }
        }
        isHeld.wait()
        XCTAssertFalse(locked.lock(nanoseconds: 10_000_000))
        release.signal()
        XCTAssertTrue(locked.lock(nanoseconds: 60_000_000_000))
        XCTAssertEqual(locked.valueWhileLocked, 2)
        locked.unlock()
        holder.wait()
        XCTAssertEqual(locked.withLock { $0 }, 2)
    }

    func testAnErrorUnlocksTheLockAndKeepsTheChangesBeforeIt() throws {
        let locked = Locked([0])
        assertThrows(Failure.self) {
            try locked.withLock { value in
                value.append(1)
                throw Failure()
            }
        }
        try require(locked.lock(nanoseconds: 60_000_000_000))
        XCTAssertEqual(locked.valueWhileLocked, [0, 1])
        locked.unlock()
    }

    func testTheValueIsReleasedWithTheLockAndAReplacedValueAtOnce() {
        let log = Locked<[String]>([])
        func recorder(_ name: String) -> ReleaseRecorder { ReleaseRecorder { log.withLock { $0.append(name) } } }
        var locked: Locked<ReleaseRecorder?>? = Locked(recorder("first"))
        let second = recorder("second")
        locked?.withLock { $0 = second }
        XCTAssertEqual(log.withLock { $0 }, ["first"])
        locked = nil
        XCTAssertEqual(log.withLock { $0 }, ["first"])
        withExtendedLifetime(second) {}
        do {
            let alone = Locked(recorder("third"))
            withExtendedLifetime(alone) {}
        }
        XCTAssertTrue(log.withLock { $0 }.contains("third"))
    }
}
