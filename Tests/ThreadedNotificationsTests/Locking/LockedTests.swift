import Dispatch
import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

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
}
