internal import Foundation

/// Promises about handlers that use a notification queue.
extension Question {
    static let queueHandlers: [Question] = [
        handler("handler-enqueues-asap", "asap enqueues asap", fact: "F7", then: ["asap again"]) { trial in
            trial.queue.enqueue("asap again", .asap)
        },
        handler("handler-enqueues-idle", of: .whenIdle, "idle enqueues idle", fact: "F7", then: ["idle again"]) {
            trial in
            trial.queue.enqueue("idle again", .whenIdle)
        },
        Question("handler-dequeues", "a handler of asap dequeues another", fact: "F7", expected: ["asap"]) { trial in
            trial.whenPosted("asap") { trial.queue.dequeue() }
            trial.queue.enqueue("asap", .asap)
            trial.queue.enqueue("asap", .asap)
        },
        handler("handler-enqueues-another-style", "asap enqueues idle, without coalescing", then: ["idle"]) { trial in
            trial.queue.enqueue("idle", .whenIdle)
        },
        handler("handler-coalesces-another-style", "asap enqueues idle, coalescing", then: ["idle"]) { trial in
            trial.queue.enqueue("idle", .whenIdle, coalescing: [.onName, .onSender])
        },
        handler("handler-posts-now", "asap enqueues now, coalescing", then: ["now"]) { trial in
            trial.queue.enqueue("now", .now, coalescing: [.onName, .onSender])
        },
        handler("handler-of-now-enqueues-now", of: .now, "now enqueues now, coalescing", then: ["now again"]) { trial in
            trial.queue.enqueue("now again", .now, coalescing: [.onName, .onSender])
        },
        Question(
            "handler-makes-a-queue", "a handler of asap makes a queue and enqueues to it",
            expected: ["asap", "asap of the other"]
        ) { trial in
            var other: QueueUnderTest?
            trial.whenPosted("asap") {
                other = trial.makeQueue(trial.queueCenter)
                other?.enqueue("asap of the other", .asap)
            }
            trial.queue.enqueue("asap", .asap)
            trial.run()
        },
        Question(
            "handler-runs-the-loop", "a handler of asap runs the run loop, which posts",
            expected: ["asap", "asap, nested", "handler ends"]
        ) { trial in
            let other = trial.makeQueue(trial.queueCenter)
            trial.whenPosted("asap") {
                other.enqueue("asap, nested", .asap)
                trial.pass()
                trial.note("handler ends")
            }
            trial.queue.enqueue("asap", .asap)
        },
    ]

    /// The handler of a notification does `action`, which has the events `then`.
    private static func handler(
        _ name: String, of style: QueueUnderTest.Style = .asap, _ claim: String, fact: String? = nil,
        then events: [String], _ action: @escaping @MainActor @Sendable (Trial) -> Void
    ) -> Question {
        let word = style == .now ? "now" : style == .asap ? "asap" : "idle"
        return Question(name, "a handler of \(claim)", fact: fact, expected: [word] + events) { trial in
            trial.whenPosted(word) { action(trial) }
            trial.queue.enqueue(word, style)
        }
    }
}
