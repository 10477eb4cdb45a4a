import Foundation
import XCTest

@testable import ThreadedNotifications

/// The lock that a signal handler can take too.
final class RecordLockTests: XCTestCase {
    func testOnlyTheThreadThatHoldsTheLockKnowsThatItDoes() {
        let lock = RecordLock(())
        XCTAssertFalse(lock.isHeldByThisThread)
        lock.lock()
        XCTAssertTrue(lock.isHeldByThisThread)
        let (isHeldElsewhere, ended) = (Locked<Bool?>(nil), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            isHeldElsewhere.withLock { $0 = lock.isHeldByThisThread }
            ended.signal()
        }
        ended.wait()
        XCTAssertEqual(isHeldElsewhere.withLock { $0 }, false)
        lock.unlock()
        XCTAssertFalse(lock.isHeldByThisThread)
    }

    func testAHandlerThatInterruptsTheHolderContinuesAndLeavesTheLockHeld() {
        let lock = RecordLock(())
        lock.lock()
        var isCalled = false
        lock.withLockInHandler { isCalled = true }
        XCTAssertTrue(isCalled)
        XCTAssertTrue(lock.isHeldByThisThread)
        lock.unlock()
    }

    func testAHandlerTakesAFreeLockAndUnlocksIt() {
        let lock = RecordLock(())
        lock.withLockInHandler { XCTAssertTrue(lock.isHeldByThisThread) }
        XCTAssertTrue(lock.lock(nanoseconds: 0))
        lock.unlock()
    }
}
