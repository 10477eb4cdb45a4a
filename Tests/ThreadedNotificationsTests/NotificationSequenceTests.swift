import Foundation
import Testing

@testable import ThreadedNotifications

private let posted = Notification.Name("sequence")

@Suite("NotificationSequence", .timeLimit(.minutes(10)))
struct NotificationSequenceTests {
    private func sequence(
        of center: ThreadedNotificationCenter, buffer: AsyncStream<Int>.Continuation.BufferingPolicy = .unbounded
    ) -> NotificationSequence<Int> {
        center.notifications(named: posted, buffer: buffer, transform: { $0.object as? Int })
    }

    @Test("it observes from its creation, and preserves the order of each posting thread")
    func order() async {
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
        #expect(values.filter { $0 < 10_000 } == Array(0..<1000))
        #expect(values.filter { $0 >= 10_000 } == Array(10_000..<11_000))
        #expect(sequence.dropped == 0)
    }

    @Test("values that exceed the buffer are dropped and counted")
    func overflow() async {
        let center = ThreadedNotificationCenter()
        for (buffer, kept) in [
            (AsyncStream<Int>.Continuation.BufferingPolicy.bufferingNewest(3), [8, 9, 10]),
            (.bufferingOldest(3), [1, 2, 3]), (.bufferingNewest(0), []),
        ] {
            let sequence = sequence(of: center, buffer: buffer)
            for value in 1...10 { center.post(name: posted, object: value) }
            sequence.cancel()
            var values: [Int] = []
            for await value in sequence { values.append(value) }
            #expect(values == kept)
            #expect(sequence.dropped == 10 - kept.count)
            #expect(sequence.counters == DeliveryCounters(delivered: 10))
        }
    }

    @Test("it ends in a task that is cancelled before it awaits")
    func cancelledBefore() async {
        let center = ThreadedNotificationCenter()
        let sequence = sequence(of: center)
        center.post(name: posted, object: 1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var values: [Int] = []
            for await value in sequence { values.append(value) }
            return values
        }
        #expect(await task.value == [])
        #expect(center.registrations.observers == 0)
    }

    @Test("it ends when the awaiting task is cancelled")
    func cancelledWhileAwaiting() async {
        let center = ThreadedNotificationCenter()
        let sequence = sequence(of: center)
        let (first, firstArrived) = AsyncStream.makeStream(of: Int.self)
        let task = Task {
            var values: [Int] = []
            for await value in sequence {
                values.append(value)
                firstArrived.yield(value)
            }
            return values
        }
        center.post(name: posted, object: 1)
        for await _ in first { break }
        task.cancel()
        #expect(await task.value == [1])
        #expect(center.registrations.observers == 0)
    }

    @Test("it ends for all iterators when the task of one is cancelled")
    func endsForAll() async {
        let center = ThreadedNotificationCenter()
        let sequence = sequence(of: center)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            for await _ in sequence {}
        }
        await task.value
        for await _ in sequence {}
        #expect(center.registrations.observers == 0)
    }

    @Test("releasing the sequence and its iterators removes the observer")
    func dropped() async {
        let center = ThreadedNotificationCenter()
        var sequence: NotificationSequence<Int>? = sequence(of: center)
        #expect(center.registrations.observers == 1)
        var iterator = sequence?.makeAsyncIterator()
        sequence = nil
        center.post(name: posted, object: 7)
        #expect(await iterator?.next() == 7, "the iterator retains the observer")
        iterator = nil
        #expect(center.registrations.observers == 0)
    }
}
