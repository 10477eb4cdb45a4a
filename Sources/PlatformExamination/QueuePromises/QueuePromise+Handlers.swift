internal import Foundation
internal import ThreadedNotifications

/// Promises about handlers that use a queue.
extension QueuePromise {
    static let handlers: [QueuePromise] = [
        QueuePromise(
            "handler-enqueues-asap", "a handler of asap enqueues asap", fact: "F7", expected: ["asap", "asap again"]
        ) { trial in
            trial.whenPosted("asap") { trial.enqueue("asap again", .asap) }
            trial.enqueue("asap", .asap)
            trial.run()
        },
        QueuePromise(
            "handler-enqueues-idle", "a handler of idle enqueues idle", fact: "F7", expected: ["idle", "idle again"]
        ) { trial in
            trial.whenPosted("idle") { trial.enqueue("idle again", .whenIdle) }
            trial.enqueue("idle", .whenIdle)
            trial.run()
        },
        QueuePromise(
            "handler-dequeues", "a handler of asap dequeues another", fact: "F7", expected: ["asap"]
        ) { trial in
            trial.whenPosted("asap") {
                trial.queue.dequeue()
            }
            trial.enqueue("asap", .asap)
            trial.enqueue("asap", .asap)
            trial.run()
        },
        QueuePromise(
            "handler-enqueues-another-style", "a handler of asap enqueues idle, without coalescing",
            expected: ["asap", "idle"]
        ) { trial in
            trial.whenPosted("asap") { trial.enqueue("idle", .whenIdle) }
            trial.enqueue("asap", .asap)
            trial.run()
        },
        QueuePromise(
            "handler-coalesces-another-style", "a handler of asap enqueues idle, coalescing",
            expected: ["asap", "idle"]
        ) { trial in
            trial.whenPosted("asap") { trial.enqueue("idle", .whenIdle, coalescing: [.onName, .onSender]) }
            trial.enqueue("asap", .asap)
            trial.run()
        },
        QueuePromise(
            "handler-posts-now", "a handler of asap enqueues now, coalescing", expected: ["asap", "now"]
        ) { trial in
            trial.whenPosted("asap") { trial.enqueue("now", .now, coalescing: [.onName, .onSender]) }
            trial.enqueue("asap", .asap)
            trial.run()
        },
        QueuePromise(
            "handler-of-now-enqueues-now", "a handler of now enqueues now, coalescing", expected: ["now", "now again"]
        ) { trial in
            trial.whenPosted("now") { trial.enqueue("now again", .now, coalescing: [.onName, .onSender]) }
            trial.enqueue("now", .now)
            trial.run()
        },
        QueuePromise(
            "handler-makes-a-queue", "a handler of asap makes a queue and enqueues to it",
            expected: ["asap", "asap of the other"]
        ) { trial in
            var other: (any QueueUnderTest)?
            trial.whenPosted("asap") {
                other = trial.maker.makeQueue(for: trial.center)
                other?.enqueue("asap of the other", .asap)
            }
            trial.enqueue("asap", .asap)
            trial.run()
            withExtendedLifetime(other) {}
        },
        QueuePromise(
            "handler-runs-the-loop", "a handler of asap runs the run loop, which posts",
            expected: ["asap", "asap, nested", "handler ends"]
        ) { trial in
            let other = trial.maker.makeQueue(for: trial.center)
            trial.whenPosted("asap") {
                other.enqueue("asap, nested", .asap)
                trial.pass()
                trial.notes.note("handler ends")
            }
            trial.enqueue("asap", .asap)
            trial.run()
        },
    ]
}
