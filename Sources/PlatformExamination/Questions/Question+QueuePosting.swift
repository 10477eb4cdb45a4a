internal import Foundation
internal import ThreadedNotifications

/// Promises about when each posting style of a notification queue posts, and in which order.
extension Question {
    static let queuePosting: [Question] = [
        Question(
            "now-within-the-call", "now: posted before enqueue returns",
            sentence: "A notification queued with NSPostNow is posted immediately after coalescing",
            expected: ["now", "returned"]
        ) { trial in
            trial.queue.enqueue("now", .now)
            trial.note("returned")
        },
        Question(
            "now-removes-what-is-similar", "now: similar waiting notifications are removed first",
            sentence: "when there are similar notifications in the queue that you want to remove through coalescing",
            expected: ["now"]
        ) { trial in
            trial.queue.enqueue("asap", .asap)
            trial.queue.enqueue("idle", .whenIdle)
            trial.queue.enqueue("now", .now, coalescing: .onName)
        },
        Question(
            "asap-after-the-call", "asap: enqueue returns before it is posted",
            sentence: "These methods immediately return […] after putting the notification in the queue.",
            expected: ["returned", "asap"]
        ) { trial in
            trial.queue.enqueue("asap", .asap)
            trial.note("returned")
        },
        Question(
            "asap-before-the-loop-returns", "asap: posted by one pass that does not wait",
            sentence: "posted to the notification center when the current iteration of the run loop completes",
            expected: ["asap", "returned"]
        ) { trial in
            trial.queue.enqueue("asap", .asap)
            trial.pass()
            trial.note("returned")
        },
        Question(
            "asap-from-a-callout", "asap, enqueued by a timer: posted after the timer's callout",
            sentence: "may or may not get delivered as soon as the current callout exits",
            expected: ["timer", "callout ends", "asap"]
        ) { trial in
            trial.addTimer {
                trial.note("timer")
                trial.queue.enqueue("asap", .asap)
                trial.note("callout ends")
            }
        },
        Question(
            "idle-when-the-loop-waits", "idle: posted when the run loop waits",
            sentence: "posted only when the run loop is in a wait state.", expected: ["returned", "idle"]
        ) { trial in
            trial.queue.enqueue("idle", .whenIdle)
            trial.note("returned")
        },
        idle("idle-after-asap", "after notifications posted asap", fact: "F6", "asap") { trial in
            trial.queue.enqueue("asap", .asap)
        },
        idle("idle-after-due-timers", "after due timers", fact: "F6", "timer") { trial in
            trial.addTimer { trial.note("timer") }
        },
        idle("idle-after-sources", "after signalled sources", "source") { trial in
            trial.addSource("source").signal()
        },
        idle("idle-after-blocks", "after blocks of the run loop", "block") { trial in
            RunLoop.current.perform { trial.note("block") }
        },
        idle("idle-after-the-main-queue", "after blocks of the main queue", "block") { trial in
            DispatchQueue.main.async { trial.note("block") }
        },
        Question(
            "idle-one-at-a-time", "idle: the next one after the work that the first one caused", sentence: waitState,
            expected: ["idle", "source", "idle", "source"]
        ) { trial in
            let source = trial.addSource("source")
            trial.whenPosted("idle") { source.signal() }
            trial.queue.enqueue("idle", .whenIdle)
            trial.queue.enqueue("idle", .whenIdle)
        },
        Question(
            "idle-not-at-exit", "idle: not posted by a run loop that is about to return",
            sentence: "a run loop that is about to exit […] is not in a wait state and thus will not post",
            expected: ["returned", "idle"]
        ) { trial in
            trial.queue.enqueue("idle", .whenIdle)
            trial.pass()
            trial.note("returned")
        },
        Question(
            "display-server", "the document's display server: many draws, one flush",
            sentence: "only one of those notifications is dispatched at the end of the run loop",
            expected: ["draw", "draw", "draw", "flush"]
        ) { trial in
            let buffer = NSObject()
            trial.addTimer {
                for _ in 1...3 {
                    trial.note("draw")
                    trial.queue.enqueue("flush", .asap, sender: buffer, coalescing: [.onName, .onSender])
                }
            }
        },
        Question(
            "typing", "the document's typing: one byte count, when typing stops",
            sentence: "When the user stops typing, the single […] notification in the queue […] is posted",
            expected: ["key", "key", "key", "count"]
        ) { trial in
            let keys = (1...3).map { _ in
                trial.addSource("key") { trial.queue.enqueue("count", .whenIdle, coalescing: .onName) }
            }
            for key in keys { key.signal() }
        },
        firstInFirstOut("asap", .asap),
        firstInFirstOut("idle", .whenIdle),
        Question(
            "first-in-first-out-over-queues", "first in, first out over two queues of a thread",
            expected: ["first (queue 2)", "second (queue 1)"]
        ) { trial in
            let second = trial.makeQueue(trial.queueCenter)
            second.enqueue("first (queue 2)", .asap)
            trial.queue.enqueue("second (queue 1)", .asap)
            trial.run()
            withExtendedLifetime(second) {}
        },
    ]

    private static let waitState =
        "In this state, there’s nothing in the run loop’s input channels, be it timers or other asynchronous events."

    /// An idle notification is posted after an event that `cause` makes ready afterwards.
    private static func idle(
        _ name: String, _ claim: String, fact: String? = nil, _ event: String,
        _ cause: @escaping @MainActor @Sendable (Trial) -> Void
    ) -> Question {
        Question(name, "idle: \(claim)", sentence: waitState, fact: fact, expected: [event, "idle"]) { trial in
            trial.queue.enqueue("idle", .whenIdle)
            cause(trial)
        }
    }

    private static func firstInFirstOut(_ style: String, _ postingStyle: QueueUnderTest.Style) -> Question {
        Question(
            "\(style)-first-in-first-out", "\(style): first in, first out",
            sentence:
                "A notification queue, on the other hand, maintains notifications (instances of NSNotification) "
                + "generally in a First In First Out (FIFO) order.",
            fact: "F5", expected: ["first", "second", "third"]
        ) { trial in
            for word in ["first", "second", "third"] { trial.queue.enqueue(word, postingStyle) }
        }
    }
}
