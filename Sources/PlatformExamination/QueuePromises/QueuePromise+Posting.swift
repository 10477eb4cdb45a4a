internal import Dispatch
internal import Foundation
internal import ThreadedNotifications

/// Promises about when each posting style posts.
extension QueuePromise {
    static let posting: [QueuePromise] = [
        QueuePromise(
            "now-within-the-call", "now: posted before enqueue returns",
            sentence:
                "A notification queued with NSPostNow is posted immediately after coalescing to the notification "
                + "center.",
            expected: ["now", "returned"]
        ) { trial in
            trial.enqueue("now", .now)
            trial.notes.note("returned")
        },
        QueuePromise(
            "now-removes-what-is-similar", "now: similar waiting notifications are removed first",
            sentence:
                "you should use enqueueNotification... with NSPostNow rather than use postNotification: when there are "
                + "similar notifications in the queue that you want to remove through coalescing.",
            expected: ["now"]
        ) { trial in
            trial.enqueue("asap", .asap)
            trial.enqueue("idle", .whenIdle)
            trial.enqueue("now", .now, coalescing: .onName)
            trial.run()
        },
        QueuePromise(
            "asap-after-the-call", "asap: enqueue returns before it is posted",
            sentence:
                "These methods immediately return to the invoking object after putting the notification in the queue.",
            expected: ["returned", "asap"]
        ) { trial in
            trial.enqueue("asap", .asap)
            trial.notes.note("returned")
            trial.run()
        },
        QueuePromise(
            "asap-before-the-loop-returns", "asap: posted by one pass that does not wait",
            sentence:
                "posted to the notification center when the current iteration of the run loop completes, assuming the "
                + "current run loop mode matches the requested mode.",
            expected: ["asap", "returned"]
        ) { trial in
            trial.enqueue("asap", .asap)
            trial.pass()
            trial.notes.note("returned")
        },
        QueuePromise(
            "asap-from-a-callout", "asap, enqueued by a timer: posted after the timer's callout",
            sentence:
                "the notification may or may not get delivered as soon as the current callout exits and control "
                + "returns to the run loop.",
            expected: ["timer", "callout ends", "asap"]
        ) { trial in
            trial.dueTimer("timer") {
                trial.enqueue("asap", .asap)
                trial.notes.note("callout ends")
            }
            trial.run()
        },
        QueuePromise(
            "idle-when-the-loop-waits", "idle: posted when the run loop waits",
            sentence:
                "A notification queued with the NSPostWhenIdle style is posted only when the run loop is in a wait "
                + "state.",
            expected: ["returned", "idle"]
        ) { trial in
            trial.enqueue("idle", .whenIdle)
            trial.notes.note("returned")
            trial.run()
        },
        QueuePromise(
            "idle-after-asap", "idle: after notifications posted asap", sentence: waitState, fact: "F6",
            expected: ["asap", "idle"]
        ) { trial in
            trial.enqueue("idle", .whenIdle)
            trial.enqueue("asap", .asap)
            trial.run()
        },
        QueuePromise(
            "idle-after-due-timers", "idle: after due timers", sentence: waitState, fact: "F6",
            expected: ["timer", "idle"]
        ) { trial in
            trial.enqueue("idle", .whenIdle)
            trial.dueTimer("timer")
            trial.run()
        },
        QueuePromise(
            "idle-after-sources", "idle: after signalled sources", sentence: waitState,
            expected: ["source", "idle"]
        ) { trial in
            let source = trial.source("source")
            trial.enqueue("idle", .whenIdle)
            source.signal()
            trial.run()
        },
        QueuePromise(
            "idle-after-blocks", "idle: after blocks of the run loop", sentence: waitState,
            expected: ["block", "idle"]
        ) { trial in
            trial.enqueue("idle", .whenIdle)
            RunLoop.current.perform { [notes = trial.notes] in notes.note("block") }
            trial.run()
        },
        QueuePromise(
            "idle-after-the-main-queue", "idle: after blocks of the main queue", sentence: waitState,
            expected: ["block", "idle"]
        ) { trial in
            trial.enqueue("idle", .whenIdle)
            DispatchQueue.main.async { [notes = trial.notes] in notes.note("block") }
            trial.run()
        },
        QueuePromise(
            "idle-one-at-a-time", "idle: the next one after the work that the first one caused",
            sentence: waitState,
            expected: ["idle", "source", "idle", "source"]
        ) { trial in
            let source = trial.source("source")
            trial.whenPosted("idle") { source.signal() }
            trial.enqueue("idle", .whenIdle)
            trial.enqueue("idle", .whenIdle)
            trial.run()
        },
        QueuePromise(
            "idle-not-at-exit", "idle: not posted by a run loop that is about to return",
            sentence:
                "Note that a run loop that is about to exit (which occurs when all of the input channels have "
                + "expired) is not in a wait state and thus will not post a notification.",
            expected: ["returned", "idle"]
        ) { trial in
            trial.enqueue("idle", .whenIdle)
            trial.pass()
            trial.notes.note("returned")
            trial.run()
        },
        QueuePromise(
            "display-server", "the document's display server: many draws, one flush",
            sentence:
                "As a result, only one of those notifications is dispatched at the end of the run loop and the window "
                + "buffer is flushed only once.",
            expected: ["draw", "draw", "draw", "flush"]
        ) { trial in
            let buffer = NSObject()
            trial.dueTimer("draw") {
                trial.enqueue("flush", .asap, sender: buffer, coalescing: [.onName, .onSender])
                for _ in 1..<3 {
                    trial.notes.note("draw")
                    trial.enqueue("flush", .asap, sender: buffer, coalescing: [.onName, .onSender])
                }
            }
            trial.run()
        },
        QueuePromise(
            "typing", "the document's typing: one byte count, when typing stops",
            sentence:
                "When the user stops typing, the single “ChangeTheDisplayedSize” notification in the queue (due to "
                + "coalescing) is posted when the run loop enters its wait state and the display is updated.",
            expected: ["key", "key", "key", "count"]
        ) { trial in
            var keys: [SignalPort] = []
            for _ in 1...3 {
                let key = trial.source("key") { trial.enqueue("count", .whenIdle, coalescing: .onName) }
                keys.append(key)
            }
            for key in keys { key.signal() }
            trial.run()
        },
    ]

    private static let waitState =
        "In this state, there’s nothing in the run loop’s input channels, be it timers or other asynchronous events."
}
