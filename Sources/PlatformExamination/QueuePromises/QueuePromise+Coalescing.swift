internal import Foundation

/// Promises about coalescing: which notifications count as similar, and which of them remain.
extension QueuePromise {
    static let coalescing: [QueuePromise] = [
        QueuePromise(
            "coalescing-on-name", "coalescing on name: the latest of each name",
            sentence: "Coalesce notifications with the same name.",
            expected: ["A 2", "B 2"], isOrdered: false
        ) { trial in
            for word in ["A 1", "B 1", "A 2", "B 2"] {
                trial.enqueue(word, .asap, name: String(word.prefix(1)), sender: NSObject(), coalescing: .onName)
            }
            trial.run()
        },
        QueuePromise(
            "coalescing-on-sender", "coalescing on sender: the latest of each NSObject",
            sentence: onSender,
            expected: ["A 2", "B 2"], isOrdered: false
        ) { trial in
            coalesce(in: trial, NSObject(), NSObject())
        },
        QueuePromise(
            "coalescing-on-no-sender", "coalescing on sender: no sender equals no sender",
            sentence: onSender,
            expected: ["A 2", "B 2"], isOrdered: false
        ) { trial in
            coalesce(in: trial, nil, NSObject())
        },
        QueuePromise(
            "coalescing-on-swift-objects", "coalescing on sender: the latest of each object of a Swift class",
            sentence: onSender,
            expected: ["A 2", "B 2"], isOrdered: false
        ) { trial in
            coalesce(in: trial, SwiftSender(), SwiftSender())
        },
        QueuePromise(
            "coalescing-on-strings", "coalescing on sender: the latest of equal strings",
            sentence: onSender,
            expected: ["A 2", "B 2"], isOrdered: false
        ) { trial in
            coalesce(in: trial, "A", "B")
        },
        QueuePromise(
            "coalescing-on-values", "coalescing on sender: the latest of equal values of a struct",
            sentence: onSender,
            expected: ["A 2", "B 2"], isOrdered: false
        ) { trial in
            coalesce(in: trial, SwiftValue(number: 1), SwiftValue(number: 2))
        },
        QueuePromise(
            "coalescing-on-both", "coalescing on both: only where name and sender are the same",
            sentence: "constants to specify coalescing using both the notification name and notification object.",
            expected: ["A of one 2", "A of other", "B of one"], isOrdered: false
        ) { trial in
            let (one, other) = (NSObject(), NSObject())
            for (word, sender) in [
                ("A of one 1", one), ("A of other", other), ("B of one", one), ("A of one 2", one),
            ] {
                trial.enqueue(
                    word, .asap, name: String(word.prefix(1)), sender: sender, coalescing: [.onName, .onSender])
            }
            trial.run()
        },
        QueuePromise(
            "no-coalescing", "no coalescing: all are posted",
            sentence: "Do not coalesce notifications in the queue.",
            expected: ["1", "2"], isOrdered: false
        ) { trial in
            trial.enqueue("1", .asap)
            trial.enqueue("2", .asap)
            trial.run()
        },
        QueuePromise(
            "coalescing-across-styles", "coalescing across posting styles: an idle one replaces one asap",
            sentence:
                "Coalescing is a process that removes from a queue notifications that are similar in some way to a "
                + "notification that was queued earlier.",
            expected: ["idle"]
        ) { trial in
            trial.enqueue("asap", .asap)
            trial.enqueue("idle", .whenIdle, coalescing: .onName)
            trial.run()
        },
        QueuePromise(
            "dequeue", "dequeueNotifications: removes similar ones of every style",
            expected: ["B"]
        ) { trial in
            trial.enqueue("A", .asap, name: "A")
            trial.enqueue("A", .whenIdle, name: "A")
            trial.enqueue("B", .asap, name: "B")
            trial.queue.dequeue(name: "A")
            trial.run()
        },
    ]

    private static let onSender = "Coalesce notifications with the same object."

    /// Enqueues two notifications of each sender.
    @MainActor
    private static func coalesce(in trial: QueueTrial, _ one: Any?, _ other: Any?) {
        for number in 1...2 {
            trial.enqueue("A \(number)", .asap, name: "A\(number)", sender: one, coalescing: .onSender)
            trial.enqueue("B \(number)", .asap, name: "B\(number)", sender: other, coalescing: .onSender)
        }
        trial.run()
    }
}

/// A sender of a Swift class that does not inherit from `NSObject`.
private final class SwiftSender {}

/// A sender of a value type.
private struct SwiftValue: Hashable {
    var number: Int
}
