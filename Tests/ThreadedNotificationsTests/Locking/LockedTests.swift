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

    func testAnErrorUnlocksTheLockAndKeepsTheChangesBeforeIt() throws {
        let locked = Locked([0])
        assertThrows(Failure.self) {
            try locked.withLock { value in
                value.append(1)
                throw Failure()
            }
        }
        XCTAssertEqual(locked.withLock { $0 }, [0, 1])
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
