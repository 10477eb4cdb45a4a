internal import Foundation

/// Promises about coalescing in a notification queue: which notifications count as similar, and which of them remain.
extension Question {
    static let queueCoalescing: [Question] = [
        Question(
            "coalescing-on-name", "coalescing on name: the latest of each name",
            sentence: "Coalesce notifications with the same name.", expected: ["A 2", "B 2"], isOrdered: false
        ) { trial in
            for word in ["A 1", "B 1", "A 2", "B 2"] {
                trial.queue.enqueue(word, .asap, name: String(word.prefix(1)), sender: NSObject(), coalescing: .onName)
            }
        },
        onSender("sender", "the latest of each NSObject") { (NSObject(), NSObject()) },
        onSender("no-sender", "no sender equals no sender") { (nil, NSObject()) },
        onSender("swift-objects", "the latest of each object of a Swift class") { (SwiftSender(), SwiftSender()) },
        onSender("strings", "the latest of equal strings") { ("A", "B") },
        onSender("values", "the latest of equal values of a struct") { (SwiftValue(number: 1), SwiftValue(number: 2)) },
        Question(
            "coalescing-on-both", "coalescing on both: only where name and sender are the same",
            sentence: "constants to specify coalescing using both the notification name and notification object.",
            expected: ["A of one 2", "A of other", "B of one"], isOrdered: false
        ) { trial in
            let (one, other) = (NSObject(), NSObject())
            for (word, sender) in [
                ("A of one 1", one), ("A of other", other), ("B of one", one), ("A of one 2", one),
            ] {
                trial.queue.enqueue(
                    word, .asap, name: String(word.prefix(1)), sender: sender, coalescing: [.onName, .onSender])
            }
        },
        Question(
            "no-coalescing", "no coalescing: all are posted", sentence: "Do not coalesce notifications in the queue.",
            expected: ["1", "2"], isOrdered: false
        ) { trial in
            trial.queue.enqueue("1", .asap)
            trial.queue.enqueue("2", .asap)
        },
        Question(
            "coalescing-across-styles", "coalescing across posting styles: an idle one replaces one asap",
            sentence: "removes from a queue notifications that are similar in some way", expected: ["idle"]
        ) { trial in
            trial.queue.enqueue("asap", .asap)
            trial.queue.enqueue("idle", .whenIdle, coalescing: .onName)
        },
        Question("dequeue", "dequeueNotifications: removes similar ones of every style", expected: ["B"]) { trial in
            trial.queue.enqueue("A", .asap, name: "A")
            trial.queue.enqueue("A", .whenIdle, name: "A")
            trial.queue.enqueue("B", .asap, name: "B")
            trial.queue.dequeue(name: "A")
        },
    ]

    /// Two notifications of each of two senders are coalesced on the sender.
    private static func onSender(
        _ name: String, _ claim: String, _ makeSenders: @escaping @Sendable () -> (Any?, Any?)
    ) -> Question {
        Question(
            "coalescing-on-\(name)", "coalescing on sender: \(claim)",
            sentence: "Coalesce notifications with the same object.", expected: ["A 2", "B 2"], isOrdered: false
        ) { trial in
            let (one, other) = makeSenders()
            for number in 1...2 {
                trial.queue.enqueue("A \(number)", .asap, name: "A\(number)", sender: one, coalescing: .onSender)
                trial.queue.enqueue("B \(number)", .asap, name: "B\(number)", sender: other, coalescing: .onSender)
            }
        }
    }
}

private final class SwiftSender {}

private struct SwiftValue: Hashable {
    var number: Int
}
