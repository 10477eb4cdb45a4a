internal import Foundation

/// Promises about the order of notifications with the same posting style.
extension QueuePromise {
    static let order: [QueuePromise] = [
        QueuePromise(
            "asap-first-in-first-out", "asap: first in, first out", sentence: fifo, fact: "F5",
            expected: ["first", "second", "third"]
        ) { trial in
            for word in ["first", "second", "third"] { trial.enqueue(word, .asap) }
            trial.run()
        },
        QueuePromise(
            "idle-first-in-first-out", "idle: first in, first out", sentence: fifo, fact: "F5",
            expected: ["first", "second", "third"]
        ) { trial in
            for word in ["first", "second", "third"] { trial.enqueue(word, .whenIdle) }
            trial.run()
        },
        QueuePromise(
            "first-in-first-out-over-queues", "first in, first out over two queues of a thread",
            expected: ["first (queue 2)", "second (queue 1)"]
        ) { trial in
            let second = trial.maker.makeQueue(for: trial.center)
            second.enqueue("first (queue 2)", .asap)
            trial.enqueue("second (queue 1)", .asap)
            trial.run()
        },
    ]

    private static let fifo =
        "A notification queue, on the other hand, maintains notifications (instances of NSNotification) generally in "
        + "a First In First Out (FIFO) order."
}
