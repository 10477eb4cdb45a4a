import Foundation
import Testing

@testable import ThreadedNotifications

@Suite("MonotonicSemaphore")
struct MonotonicSemaphoreTests {
    private let timeout = Duration.seconds(20)

    @Test("each signal lets one wait return, which may begin later")
    func countsSignals() {
        let semaphore = MonotonicSemaphore()
        semaphore.signal()
        semaphore.signal()
        semaphore.wait()
        #expect(semaphore.wait(until: .now))
        #expect(!semaphore.wait(until: .now))
    }

    @Test("the initial value is the number of waits that return without a signal")
    func initialValue() {
        let semaphore = MonotonicSemaphore(value: 1)
        #expect(semaphore.wait(until: .now))
        #expect(!semaphore.wait(until: .now))
    }

    @Test("a wait with a deadline in the past takes a signal if there is one, and returns false otherwise")
    func passedDeadline() {
        let semaphore = MonotonicSemaphore()
        let past = ContinuousClock.now - .seconds(3600)
        #expect(!semaphore.wait(until: past))
        semaphore.signal()
        #expect(semaphore.wait(until: past))
        #expect(!semaphore.wait(until: past))
    }

    @Test(
        "memory written before a signal is visible after the wait, with and without a deadline",
        arguments: [true, false])
    func ordersMemory(hasDeadline: Bool) {
        // Safety: the semaphores order the two threads. The thread sanitizer checks that they do.
        nonisolated(unsafe) var value = 0
        let (asked, answered) = (MonotonicSemaphore(), MonotonicSemaphore())
        @Sendable func wait(for semaphore: MonotonicSemaphore) -> Bool {
            guard hasDeadline else {
                semaphore.wait()
                return true
            }
            return semaphore.wait(until: .after(timeout))
        }
        let other = Thread.posting(1) {
            for _ in 0..<1000 {
                guard wait(for: asked) else { return }
                value += 1
                answered.signal()
            }
        }
        for expected in 1...1000 {
            asked.signal()
            guard wait(for: answered) else {
                Issue.record("the other thread did not answer")
                return
            }
            guard value == expected else {
                Issue.record("\(value) is not \(expected)")
                return
            }
        }
        other.wait()
    }
}
