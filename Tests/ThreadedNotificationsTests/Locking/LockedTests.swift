import Dispatch
import Foundation
import Testing

@testable import ThreadedNotifications

@Suite("Locked")
struct LockedTests {
    private struct Failure: Error {}

    @Test("threads access the value one after the other")
    func exclusion() {
        let locked = Locked((count: 0, list: [Int]()))
        let (threads, steps) = (8, 50_000)
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
        #expect(count == threads * steps && list == threads * steps / 2)
    }

    @Test("a lock that another thread holds is not taken within a second, but after it is unlocked")
    func timeout() {
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
        #expect(!locked.lock(nanoseconds: 1_000_000_000))
        release.signal()
        #expect(locked.lock(nanoseconds: 60_000_000_000))
        #expect(locked.valueWhileLocked == 2)
        locked.unlock()
        holder.wait()
        #expect(locked.withLock { $0 } == 2)
    }

    @Test("an error unlocks the lock and keeps the changes before it")
    func errors() throws {
        let locked = Locked([0])
        #expect(throws: Failure.self) {
            try locked.withLock { value in
                value.append(1)
                throw Failure()
            }
        }
        try #require(locked.lock(nanoseconds: 60_000_000_000))
        #expect(locked.valueWhileLocked == [0, 1])
        locked.unlock()
    }

    @Test("the value is released with the lock, and a replaced value at once")
    func release() {
        let log = Locked<[String]>([])
        func recorder(_ name: String) -> ReleaseRecorder { ReleaseRecorder { log.withLock { $0.append(name) } } }
        var locked: Locked<ReleaseRecorder?>? = Locked(recorder("first"))
        let second = recorder("second")
        locked?.withLock { $0 = second }
        #expect(log.withLock { $0 } == ["first"])
        locked = nil
        #expect(log.withLock { $0 } == ["first"])
        withExtendedLifetime(second) {}
        do {
            let alone = Locked(recorder("third"))
            withExtendedLifetime(alone) {}
        }
        #expect(log.withLock { $0 }.contains("third"))
    }
}
