internal import Foundation
internal import Scenarios
internal import ThreadedNotifications

/// F18 and F19: Foundation's messages. This package's counterparts are observers on a thread, and its asynchronous
/// sequence.
extension PlatformFact {
    static let asyncMessages: [PlatformFact] = [
        PlatformFact(
            number: "F18", area: "async messages", expected: "in order, complete, and they end with their task",
            questions: [
                TrialQuestion(
                    "messages-in-order", "messages that one thread posts are handled in the order posted",
                    expected: TrialExpectation(events: ["in the order posted"]),
                    foundation: { notes in
                        try noteOrder(notes, runs: 500) { center, count, handled in
                            let token = center.foundation.addObserver(of: nil as Sender?, for: NumberedMessage.self) {
                                (message: NumberedMessage) async in handled(message.number)
                            }
                            for number in 0..<count { center.foundation.post(NumberedMessage(number: number)) }
                            return { center.foundation.removeObserver(token) }
                        }
                    },
                    ours: .body { notes in
                        let worker = RunLoopThread(name: "worker")
                        try worker.start()
                        try noteOrder(notes, runs: 20) { center, count, handled in
                            let token = center.ours.addObserver(
                                forName: TestNotification.foundationName, on: worker, transform: { $0.object as? Int },
                                using: handled)
                            for number in 0..<count {
                                center.ours.post(name: TestNotification.foundationName, object: number)
                            }
                            return { token.cancel() }
                        }
                    }),
                TrialQuestion(
                    "messages-are-kept",
                    "\(burst) messages before the next is awaited: all arrive, or the loss is reported",
                    expected: TrialExpectation(events: ["all arrive"]),
                    foundation: { notes in
                        let arrived = countRead(within: TrialTimeouts.foundation) { center, shouldContinue in
                            let messages = center.foundation.messages(of: nil as Sender?, for: NumberedMessage.self)
                            var iterator = messages.makeAsyncIterator()
                            for number in 0..<burst { center.foundation.post(NumberedMessage(number: number)) }
                            while await iterator.next(isolation: nil) != nil, shouldContinue() {}
                        }
                        notes.note(
                            arrived == burst ? "all arrive" : "some are lost without a report",
                            detail: "\(arrived) of \(burst) arrive")
                    },
                    ours: .other(TrialExpectation(events: ["the loss is reported"])) { notes in
                        let dropped = Locked(0)
                        let arrived = countRead(within: TrialTimeouts.ours) { center, shouldContinue in
                            let numbers = center.ours.notifications(
                                named: TestNotification.foundationName, buffer: .bufferingNewest(10),
                                transform: { $0.object as? Int })
                            var iterator = numbers.makeAsyncIterator()
                            for number in 0..<burst {
                                center.ours.post(name: TestNotification.foundationName, object: number)
                            }
                            dropped.withLock { $0 = numbers.dropped }
                            numbers.cancel()
                            while await iterator.next() != nil, shouldContinue() {}
                        }
                        let reported = dropped.withLock { $0 }
                        notes.note(
                            arrived + reported == burst ? "the loss is reported" : "the loss is not reported",
                            detail: "\(arrived) of \(burst) arrive, \(reported) dropped")
                    }),
                TrialQuestion(
                    "empty-buffer", "a sequence with a buffer of none can be posted to",
                    expected: TrialExpectation(events: ["made", "posted"]),
                    foundation: { notes in
                        let center = NotificationCenter()
                        let messages = center.messages(of: nil as Sender?, for: NumberedMessage.self, bufferSize: 0)
                        let iterator = messages.makeAsyncIterator()
                        notes.note("made")
                        center.post(NumberedMessage(number: 1))
                        notes.note("posted")
                        withExtendedLifetime(iterator) {}
                    },
                    ours: .body { notes in
                        let center = ThreadedNotificationCenter()
                        let numbers = center.notifications(
                            named: TestNotification.foundationName, buffer: .bufferingNewest(0),
                            transform: { $0.object as? Int })
                        let iterator = numbers.makeAsyncIterator()
                        notes.note("made")
                        center.post(name: TestNotification.foundationName, object: 1)
                        notes.note("posted")
                        withExtendedLifetime(iterator) {}
                    }),
                TrialQuestion(
                    "cancelled-task", "reading a sequence in a task that is cancelled already ends",
                    expected: TrialExpectation(events: ["ends"]),
                    foundation: { notes in
                        let center = NotificationCenter()
                        try noteEnd(notes, within: TrialTimeouts.foundation) {
                            for await _ in center.messages(of: nil as Sender?, for: NumberedMessage.self) {}
                        }
                    },
                    ours: .body { notes in
                        let center = ThreadedNotificationCenter()
                        try noteEnd(notes, within: TrialTimeouts.ours) {
                            for await _ in center.notifications(
                                named: TestNotification.foundationName, buffer: .unbounded,
                                transform: { $0.object as? Int })
                            {}
                        }
                    }),
            ]),
        PlatformFact(
            number: "F19", area: "wildcard observer", expected: "an observer of any name is called",
            questions: [
                TrialQuestion(
                    "wildcard-beside-messages", "a message is posted to a center with an observer of any name",
                    expected: TrialExpectation(events: ["post returns"]),
                    foundation: { notes in
                        let center = NotificationCenter()
                        let token = center.addObserver(forName: nil, object: nil, queue: nil) { _ in }
                        center.post(NumberedMessage(number: 1))
                        notes.note("post returns")
                        center.removeObserver(token)
                    },
                    ours: .other(TrialExpectation(events: ["a center of its own: called", "post returns"])) { notes in
                        let center = OurCenter()
                        let observer = center.addObserver(object: nil, isWildcard: true) {
                            notes.note("a center of its own: called")
                        }
                        center.post()
                        notes.note("post returns")
                        observer.remove()
                    })
            ]),
    ]

    private typealias Centers = (foundation: NotificationCenter, ours: ThreadedNotificationCenter)

    /// The number of messages that are posted before the first one is read.
    private static let burst = 51

    /// Repeats the posts until a run is out of order. The order is a matter of chance, so there are many runs.
    private static func noteOrder(
        _ notes: TrialNotes, runs: Int,
        _ postAll: (
            _ center: Centers, _ count: Int, _ handled: @escaping @Sendable (Int) -> Void
        ) -> () -> Void
    ) throws {
        let count = 2000
        for run in 1...runs {
            let (numbers, isOver) = (Locked<[Int]>([]), Gate("the last message"))
            let remove = postAll((NotificationCenter(), ThreadedNotificationCenter()), count) { number in
                let isLast = numbers.withLock { numbers in
                    numbers.append(number)
                    return numbers.count == count
                }
                if isLast { isOver.open() }
            }
            try isOver.wait(timeout: TrialTimeouts.ours)
            remove()
            if numbers.withLock({ $0 }) != Array(0..<count) {
                return notes.note("in another order", detail: "in run \(run), of \(count)")
            }
        }
        notes.note("in the order posted", detail: "\(runs) runs, of \(count)")
    }

    /// The number of messages of a burst that are read within the timeout.
    ///
    /// - Parameter read: makes an iterator, posts, then reads as long as `shouldContinue` returns true.
    private static func countRead(
        within timeout: Duration,
        _ read: @escaping @Sendable (_ center: Centers, _ shouldContinue: @Sendable () -> Bool) async -> Void
    ) -> Int {
        let (count, isOver) = (Locked(0), Gate("the reader"))
        let task = Task.detached {
            await read((NotificationCenter(), ThreadedNotificationCenter())) {
                count.withLock { count in
                    count += 1
                    return count < burst
                }
            }
            isOver.open()
        }
        try? isOver.wait(timeout: timeout)
        task.cancel()
        return count.withLock { $0 }
    }

    private static func noteEnd(
        _ notes: TrialNotes, within timeout: Duration, _ read: @escaping @Sendable () async -> Void
    ) throws {
        let (isCancelled, isOver) = (Gate("the cancellation"), Gate("the reader"))
        let task = Task.detached {
            while !Task.isCancelled { await Task.yield() }
            isCancelled.open()
            await read()
            isOver.open()
        }
        task.cancel()
        try isCancelled.wait(timeout: TrialTimeouts.ours)
        do throws(ScenarioError) {
            try isOver.wait(timeout: timeout)
            notes.note("ends")
        } catch {
            notes.note("still waits", detail: "after \(timeout.components.seconds) s")
        }
    }
}

/// The subject of the messages.
private final class Sender: Sendable {}

private struct NumberedMessage: NotificationCenter.AsyncMessage {
    typealias Subject = Sender
    static var name: Notification.Name { TestNotification.foundationName }

    var number: Int

    static func makeMessage(_ notification: Notification) -> NumberedMessage? { nil }
    static func makeNotification(_ message: NumberedMessage) -> Notification { Notification(name: name) }
}
