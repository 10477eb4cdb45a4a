import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

final class MonotonicSemaphoreTests: XCTestCase {
    private let timeout = Duration.seconds(20)

    func testAWaitWithADeadlineInThePastTakesASignalIfThereIsOneAndReturnsFalseOtherwise() {
        let semaphore = MonotonicSemaphore()
        let past = SuspendingClock.now - .seconds(3600)
        XCTAssertFalse(semaphore.wait(until: past))
        semaphore.signal()
        XCTAssertTrue(semaphore.wait(until: past))
        XCTAssertFalse(semaphore.wait(until: past))
    }

    func testMemoryWrittenBeforeASignalIsVisibleAfterAWaitOfEachKind() {
        let timeout = timeout
        ordersMemory { semaphore in
            semaphore.wait()
            return true
        }
        ordersMemory { $0.wait(until: .after(timeout)) }
    }

    private func ordersMemory(_ wait: @escaping @Sendable (MonotonicSemaphore) -> Bool) {
        // Safety: the semaphores order the two threads. The thread sanitizer checks that they do.
        nonisolated(unsafe) var value = 0
        let (asked, answered) = (MonotonicSemaphore(), MonotonicSemaphore())
        let other = Thread.posting(1) {
            for _ in 0..<200 {
                guard wait(asked) else { return }
                value += 1
                answered.signal()
            }
        }
        for expected in 1...200 {
            asked.signal()
            guard wait(answered) else {
                XCTFail("the other thread did not answer")
                return
            }
            guard value == expected else {
                XCTFail("\(value) is not \(expected)")
                return
            }
        }
        other.wait()
    }
}
