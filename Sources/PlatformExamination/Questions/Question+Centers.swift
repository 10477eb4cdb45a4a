internal import Foundation
internal import ThreadedNotifications

/// F1 to F4, and F10 to F12: notification centers, and observers that handle in an operation queue, whose counterpart
/// in this package is an observer on a run loop thread.
extension Question {
    static let centers: [Question] = [
        Question(
            "observers-in-order", "20 observers of one name are called in the order registered", fact: "F1",
            expected: ["in the order registered"]
        ) { trial in
            let called = Locked<[Int]>([])
            for number in 1...20 { trial.center.addObserver { called.withLock { $0.append(number) } } }
            trial.center.post()
            let order = called.withLock { $0 }
            trial.note(
                order == Array(1...20) ? "in the order registered" : "in another order",
                detail: order.prefix(5).map(String.init).joined(separator: " ") + " …")
        },
        Question(
            "removing-twice", "a token removed twice removes no other observer", fact: "F2",
            expected: ["the other observer is called"]
        ) { trial in
            let remove = trial.center.addObserver {}
            remove()
            let calls = trial.center.addCounter()
            remove()
            trial.center.post()
            trial.note("the other observer is \(calls() > 0 ? "called" : "removed")")
        },
        Question(
            "removed-during-a-post", "of two observers that remove each other, one is called", fact: "F3",
            expected: ["1 is called"]
        ) { trial in
            let removals = Locked<[@Sendable () -> Void]>([])
            let called = Locked(0)
            for other in [1, 0] {
                let remove = trial.center.addObserver {
                    called.withLock { $0 += 1 }
                    removals.withLock { $0[other] }()
                }
                removals.withLock { $0.append(remove) }
            }
            trial.center.post()
            let count = called.withLock { $0 }
            trial.note(count == 1 ? "1 is called" : "\(count) are called")
        },
        Question(
            "removed-by-another-thread", "no handler begins after its removal returned on another thread", fact: "F3",
            expected: ["none begins"]
        ) { trial in
            let calls = Locked(0)
            let (hasBegun, isRemoved, hasPosted) = (MonotonicSemaphore(), MonotonicSemaphore(), MonotonicSemaphore())
            let removals = (1...20).map { _ in
                trial.center.addObserver {
                    let call = calls.withLock { calls in
                        calls += 1
                        return calls
                    }
                    guard call == 1 else { return }
                    // The first handler blocks the posting thread until the main thread has removed the observers.
                    hasBegun.signal()
                    try? isRemoved.wait(for: "the removal")
                }
            }
            Thread.detachNewThread {
                trial.center.post()
                hasPosted.signal()
            }
            try hasBegun.wait(for: "a handler")
            for remove in removals { remove() }
            isRemoved.signal()
            try hasPosted.wait(for: "the post")
            let late = calls.withLock { $0 } - 1
            trial.note(late == 0 ? "none begins" : "handlers begin", detail: "\(late) of \(removals.count - 1)")
        },
        Question(
            "equal-senders", "an observer of a sender that is a value is called for an equal one",
            sentence: ofSender, fact: "F4", expected: ["called for an equal String", "called for an equal Int"]
        ) { trial in
            let values: [(String, observed: Any, posted: Any)] = [
                ("String", ["the", "sender"].joined(separator: " "), ["the", "sender"].joined(separator: " ")),
                ("Int", 1_000_000, 1_000_000),
            ]
            for (type, observed, posted) in values {
                let calls = trial.center.addCounter(object: observed)
                trial.center.post(object: posted)
                trial.note("\(calls() > 0 ? "called" : "not called") for an equal \(type)")
            }
        },
        Question(
            "freed-senders", "an observer of a sender that was freed is called for no other", sentence: ofSender,
            fact: "F4", expected: ["called for none"]
        ) { trial in
            let calls = trial.center.addCounter(object: Sender())
            // One after the other, so that the allocator may place a sender at the address of a freed one.
            for _ in 1...100 { trial.center.post(object: Sender()) }
            trial.note(calls() == 0 ? "called for none" : "called for others", detail: "\(calls()) of 100")
        },
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
            let start = SuspendingClock.now
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

    private static let ofSender =
        "If you specify only an object, the observer will receive all notifications containing that object."
}

private final class Sender {}
