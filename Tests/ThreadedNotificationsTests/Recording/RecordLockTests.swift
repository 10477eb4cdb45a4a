import Foundation
import Testing

@testable import ThreadedNotifications

/// The lock that a signal handler can take too.
@Suite("RecordLock")
struct RecordLockTests {
    @Test("only the thread that holds the lock knows that it does")
    func holder() {
        let lock = RecordLock(())
        #expect(!lock.isHeldByThisThread)
        lock.lock()
        #expect(lock.isHeldByThisThread)
        let (isHeldElsewhere, ended) = (Locked<Bool?>(nil), DispatchSemaphore(value: 0))
        Thread.detachNewThread {
            isHeldElsewhere.withLock { $0 = lock.isHeldByThisThread }
            ended.signal()
        }
        ended.wait()
        #expect(isHeldElsewhere.withLock { $0 } == false)
        lock.unlock()
        #expect(!lock.isHeldByThisThread)
    }

    @Test("a handler that interrupts the holder continues and leaves the lock held")
    func interrupted() {
        let lock = RecordLock(())
        lock.lock()
        var isCalled = false
        lock.withLockInHandler { isCalled = true }
        #expect(isCalled)
        #expect(lock.isHeldByThisThread)
        lock.unlock()
    }

    @Test("a handler takes a free lock and unlocks it")
    func free() {
        let lock = RecordLock(())
        lock.withLockInHandler { #expect(lock.isHeldByThisThread) }
        #expect(lock.lock(nanoseconds: 0))
        lock.unlock()
    }
}
