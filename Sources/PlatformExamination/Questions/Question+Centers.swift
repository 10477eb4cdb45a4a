internal import Foundation
internal import ThreadedNotifications

/// F1 to F4: notification centers.
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
            let isCalled = Locked(false)
            let remove = trial.center.addObserver {}
            remove()
            trial.center.addObserver { isCalled.withLock { $0 = true } }
            remove()
            trial.center.post()
            trial.note("the other observer is \(isCalled.withLock { $0 } ? "called" : "removed")")
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
                let isCalled = Locked(false)
                trial.center.addObserver(object: observed) { isCalled.withLock { $0 = true } }
                trial.center.post(object: posted)
                trial.note("\(isCalled.withLock { $0 } ? "called" : "not called") for an equal \(type)")
            }
        },
        Question(
            "freed-senders", "an observer of a sender that was freed is called for no other", sentence: ofSender,
            fact: "F4", expected: ["called for none"]
        ) { trial in
            let (count, called) = (100, Locked(0))
            trial.center.addObserver(object: Sender()) { called.withLock { $0 += 1 } }
            // One after the other, so that the allocator may place a sender at the address of a freed one.
            for _ in 0..<count { trial.center.post(object: Sender()) }
            let matched = called.withLock { $0 }
            trial.note(matched == 0 ? "called for none" : "called for others", detail: "\(matched) of \(count)")
        },
    ]

    private static let ofSender =
        "If you specify only an object, the observer will receive all notifications containing that object."
}

private final class Sender {}
