import Foundation
import SharedTesting
import ThreadedNotifications
import XCTest

private let posted = Notification.Name("sequence")

final class NotificationSequenceTests: XCTestCase {
    private func sequence(
        of center: ThreadedNotificationCenter, bufferSize: Int = .max
    ) -> NotificationSequence<Int> {
        center.notifications(named: posted, bufferSize: bufferSize, transform: { $0.object as? Int })
    }

    func testItObservesFromItsCreationAndPreservesTheOrderOfEachPostingThread() async {
        let center = ThreadedNotificationCenter()
        let sequence = sequence(of: center)
        let poster = Thread.posting(1) { for value in 0..<1000 { center.post(name: posted, object: value) } }
        Thread.detachNewThread {
            for value in 0..<1000 { center.post(name: posted, object: 10_000 + value) }
            poster.wait()
            sequence.cancel()
        }
        var values: [Int] = []
        for await value in sequence { values.append(value) }
        XCTAssertEqual(values.filter { $0 < 10_000 }, Array(0..<1000))
        XCTAssertEqual(values.filter { $0 >= 10_000 }, Array(10_000..<11_000))
        XCTAssertEqual(sequence.dropped, 0)
    }

    func testValuesThatExceedTheBufferAreDroppedAndCounted() async {
        let center = ThreadedNotificationCenter()
        for (size, kept) in [(3, [8, 9, 10]), (0, [])] {
            let sequence = sequence(of: center, bufferSize: size)
            for value in 1...10 { center.post(name: posted, object: value) }
            sequence.cancel()
            var values: [Int] = []
            for await value in sequence { values.append(value) }
            XCTAssertEqual(values, kept)
            XCTAssertEqual(sequence.dropped, 10 - kept.count)
            XCTAssertEqual(sequence.counters, DeliveryCounters(delivered: 10))
        }
    }

    func testItEndsWhenTheAwaitingTaskIsCancelledOrWasBefore() async {
        for isCancelledBefore in [true, false] {
            let center = ThreadedNotificationCenter()
            let sequence = sequence(of: center)
            let (first, firstArrived) = AsyncStream.makeStream(of: Int.self)
            let task = Task {
                if isCancelledBefore { withUnsafeCurrentTask { $0?.cancel() } }
                var values: [Int] = []
                for await value in sequence {
                    values.append(value)
                    firstArrived.yield(value)
                }
                return values
            }
            center.post(name: posted, object: 1)
            if !isCancelledBefore { for await _ in first { break } }
            task.cancel()
            let values = await task.value
            XCTAssertEqual(values, isCancelledBefore ? [] : [1])
            XCTAssertEqual(center.observers.count, 0)
        }
    }

    func testReleasingTheSequenceAndItsIteratorsRemovesTheObserver() async {
        let center = ThreadedNotificationCenter()
        var sequence: NotificationSequence<Int>? = sequence(of: center)
        XCTAssertEqual(center.observers.count, 1)
        var iterator = sequence?.makeAsyncIterator()
        sequence = nil
        center.post(name: posted, object: 7)
        let next = await iterator?.next()
        XCTAssertEqual(next, 7, "the iterator retains the observer")
        iterator = nil
        XCTAssertEqual(center.observers.count, 0)
    }
}
