internal import Foundation
internal import ThreadedNotifications

/// F10 to F12: observers that handle in an operation queue. This package's counterpart is an observer on a run loop
/// thread.
extension Question {
    static let operationQueues: [Question] = [
        Question(
            "post-waits-for-the-queue", "a post does not wait for other work of the queue", fact: "F10",
            expected: ["post returns", "the other work ends"]
        ) { trial in
            let worker = try Worker.started(trial.side)
            trial.center.addObserver(on: worker) {}
            let (hasBegun, hasReturned, hasEnded) = (MonotonicSemaphore(), MonotonicSemaphore(), MonotonicSemaphore())
            try worker.perform {
                hasBegun.signal()
                try? hasReturned.wait(for: "the post", timeout: trial.patience)
                trial.note("the other work ends")
                hasEnded.signal()
            }
            try hasBegun.wait(for: "the other work")
            let start = ContinuousClock.now
            trial.center.post()
            trial.note("post returns", detail: Trial.time(since: start))
            hasReturned.signal()
            try hasEnded.wait(for: "the other work")
        },
        Question(
            "main-waits-for-the-poster", "main waits for a thread that posts to an observer on main", fact: "F11",
            expected: ["post returns", "handled on main"]
        ) { trial in
            trial.center.addObserver(on: .main(trial.side)) { trial.note("handled on main") }
            trial.endProcess(noting: "both still blocked")
            let hasReturned = MonotonicSemaphore()
            Thread.detachNewThread {
                trial.center.post()
                trial.note("post returns")
                hasReturned.signal()
            }
            try hasReturned.wait(for: "the post")
        },
        Question(
            "handlers-post-to-each-other", "handlers of two queues post to each other's queue", fact: "F11",
            expected: ["A on the first", "B on the second", "C on the first"]
        ) { trial in
            let first = try Worker.started(trial.side, name: "first")
            let second = try Worker.started(trial.side, name: "second")
            let isOver = MonotonicSemaphore()
            for (name, worker, next) in [("A", first, "B"), ("B", second, "C"), ("C", first, nil)] {
                trial.center.addObserver(Notification.Name(name), on: worker) {
                    trial.note("\(name) on the \(Worker.currentName(trial.side) ?? "wrong one")")
                    guard let next else { return isOver.signal() }
                    trial.center.post(Notification.Name(next))
                }
            }
            trial.endProcess(noting: "all still blocked")
            trial.center.post(Notification.Name("A"))
            try isOver.wait(for: "the last handler")
        },
        Question(
            "queue-is-released", "an observer is called though nothing else retains its queue", fact: "F12",
            expected: ["handled"]
        ) { trial in
            let isHandled = MonotonicSemaphore()
            trial.center.addObserver(on: try .started(trial.side)) { isHandled.signal() }
            trial.center.post()
            trial.note("handled", when: isHandled, otherwise: "not handled")
        },
    ]
}
