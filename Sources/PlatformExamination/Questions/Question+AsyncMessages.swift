internal import Foundation
internal import ThreadedNotifications

/// F18 and F19: Foundation's messages. This package has observers on a thread, and an asynchronous sequence.
extension Question {
    static let asyncMessages: [Question] = [
        Question(
            "messages-in-order", "messages that one thread posts are handled in the order posted", fact: "F18",
            expected: ["in the order posted"]
        ) { trial in
            // The order is a matter of chance, so there are many runs.
            let (runs, count) = (trial.side == .foundation ? 500 : 20, 2000)
            let worker = RunLoopThread(name: "worker")
            try worker.start()
            for run in 1...runs {
                let (handled, isOver) = (Locked<[Int]>([]), MonotonicSemaphore())
                let numbers = Numbers(trial.side)
                let token = numbers.observe(worker) { number in
                    let isLast = handled.withLock { handled in
                        handled.append(number)
                        return handled.count == count
                    }
                    if isLast { isOver.signal() }
                }
                for number in 0..<count { numbers.post(number) }
                try isOver.wait(for: "the last message")
                withExtendedLifetime(token) {}
                if handled.withLock({ $0 }) != Array(0..<count) {
                    return trial.note("in another order", detail: "in run \(run), of \(count)")
                }
            }
            trial.note("in the order posted", detail: "\(runs) runs, of \(count)")
        },
        Question(
            "messages-are-kept", "\(burst) messages before the next is awaited: all arrive, or the loss is reported",
            fact: "F18", expected: ["all arrive"], ofOurs: ["the loss is reported"]
        ) { trial in
            let (numbers, read, isOver) = (Numbers(trial.side), Locked(0), MonotonicSemaphore())
            Task.detached {
                var iterator = numbers.sequence.makeAsyncIterator()
                for number in 0..<burst { numbers.post(number) }
                for _ in 0..<burst - numbers.dropped() where await iterator.next(isolation: nil) != nil {
                    read.withLock { $0 += 1 }
                }
                isOver.signal()
            }
            try? isOver.wait(for: "the reader", timeout: trial.patience)
            let (arrived, dropped) = (read.withLock { $0 }, numbers.dropped())
            trial.note(
                arrived == burst
                    ? "all arrive"
                    : arrived + dropped == burst ? "the loss is reported" : "some are lost without a report",
                detail: "\(arrived) of \(burst) arrive" + (dropped == 0 ? "" : ", \(dropped) dropped"))
        },
        Question(
            "empty-buffer", "a sequence with a buffer of none can be posted to", fact: "F18",
            expected: ["made", "posted"]
        ) { trial in
            let numbers = Numbers(trial.side, buffer: 0)
            let iterator = numbers.sequence.makeAsyncIterator()
            trial.note("made")
            numbers.post(1)
            trial.note("posted")
            withExtendedLifetime(iterator) {}
        },
        Question(
            "cancelled-task", "reading a sequence in a task that is cancelled already ends", fact: "F18",
            expected: ["ends"]
        ) { trial in
            let (numbers, isOver) = (Numbers(trial.side), MonotonicSemaphore())
            Task.detached {
                withUnsafeCurrentTask { $0?.cancel() }
                var iterator = numbers.sequence.makeAsyncIterator()
                while await iterator.next(isolation: nil) != nil {}
                isOver.signal()
            }
            trial.note("ends", when: isOver, otherwise: "still waits")
        },
        Question(
            "wildcard-beside-messages", "a message is posted to a center with an observer of any name", fact: "F19",
            expected: ["post returns"], ofOurs: ["a center of its own: called", "post returns"]
        ) { trial in
            let center = NotificationCenter()
            _ = center.addObserver(forName: nil, object: nil, queue: nil) { _ in }
            center.post(NumberedMessage(number: 1))
            trial.note("post returns")
        } ours: { trial in
            trial.center.addObserver(nil) { trial.note("a center of its own: called") }
            trial.center.post()
            trial.note("post returns")
        },
    ]

    /// The number of messages that are posted before the first one is read.
    private static let burst = 51
}

private final class Sender: Sendable {}

private struct NumberedMessage: NotificationCenter.AsyncMessage {
    typealias Subject = Sender
    static var name: Notification.Name { .test }

    var number: Int

    static func makeMessage(_ notification: Notification) -> NumberedMessage? { nil }
    static func makeNotification(_ message: NumberedMessage) -> Notification { Notification(name: name) }
}

/// A center of one side, and a sequence of the numbers that are posted to it.
private struct Numbers: Sendable {
    let post: @Sendable (Int) -> Void
    /// Adds an observer and returns its token. This package's runs on a thread.
    let observe: @Sendable (RunLoopThread, _ handler: @escaping @Sendable (Int) -> Void) -> Any
    let sequence: any AsyncSequence<Int, Never> & Sendable
    let dropped: @Sendable () -> Int

    /// - Parameter buffer: the size of the sequence's buffer. The default is Foundation's.
    init(_ side: Question.Side, buffer: Int = 10) {
        switch side {
        case .foundation:
            let center = NotificationCenter()
            sequence = center.messages(of: nil as Sender?, for: NumberedMessage.self, bufferSize: buffer)
                .map(\.number)
            post = { center.post(NumberedMessage(number: $0)) }
            observe = { _, handler in
                center.addObserver(of: nil as Sender?, for: NumberedMessage.self) { (message: NumberedMessage) async in
                    handler(message.number)
                }
            }
            dropped = { 0 }
        case .ours:
            let center = ThreadedNotificationCenter()
            let numbers = center.notifications(
                named: .test, bufferSize: buffer, transform: { $0.object as? Int })
            sequence = numbers
            post = { center.post(name: .test, object: $0) }
            observe = { worker, handler in
                center.addObserver(forName: .test, on: worker, transform: { $0.object as? Int }, using: handler)
            }
            dropped = { numbers.dropped }
        }
    }
}
