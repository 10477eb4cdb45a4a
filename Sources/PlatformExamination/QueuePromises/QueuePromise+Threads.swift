internal import Dispatch
internal import Foundation
internal import Scenarios
internal import ThreadedNotifications

/// Promises about queues that two threads use, and about the lifetime of a queue.
extension QueuePromise {
    static let threads: [QueuePromise] = [
        QueuePromise(
            "own-queue-of-a-second-thread", "a second thread's own queue: posted there", sentence: currentThread,
            expected: ["asap on another thread", "idle on another thread"], isOrdered: false
        ) { trial in
            let (maker, center) = (trial.maker, trial.center)
            let enqueue: @Sendable () -> Void = {
                let queue = maker.makeQueue(for: center)
                queue.enqueue("asap", .asap)
                queue.enqueue("idle", .whenIdle)
            }
            try onSecondThread(enqueue) { trial.run() }
        },
        QueuePromise(
            "default-queue-of-a-second-thread", "a second thread's default queue: posted there",
            sentence: currentThread,
            expected: ["asap on another thread"]
        ) { trial in
            trial.observe(.default)
            let maker = trial.maker
            let enqueue: @Sendable () -> Void = {
                maker.defaultQueue().enqueue("asap", .asap)
            }
            try onSecondThread(enqueue) { trial.run() }
        },
        QueuePromise(
            "enqueued-on-a-second-thread", "enqueued on a second thread: posted on the queue's thread", fact: "F9",
            expected: ["asap"]
        ) { trial in
            let queue = trial.queue
            try onSecondThread { queue.enqueue("asap", .asap) }
            trial.run()
        },
        QueuePromise(
            "enqueued-on-both-threads", "enqueued on a second thread and on the queue's: both posted there",
            fact: "F9",
            expected: ["second thread's", "own"]
        ) { trial in
            let queue = trial.queue
            let enqueue: @Sendable () -> Void = {
                queue.enqueue("second thread's", .asap)
            }
            try onSecondThread(enqueue) {
                trial.enqueue("own", .asap)
                trial.run()
            }
        },
        QueuePromise(
            "used-queue-on-a-second-thread",
            "enqueued on a second thread to a used queue: posted on the queue's thread",
            expected: ["own", "second thread's"]
        ) { trial in
            trial.enqueue("own", .asap)
            trial.pass()
            let queue = trial.queue
            try onSecondThread {
                queue.enqueue("second thread's", .asap)
            }
            trial.run()
        },
        QueuePromise(
            "wakes-the-run-loop", "enqueued on a second thread while the run loop waits: wakes it",
            expected: ["own", "second thread's"]
        ) { trial in
            trial.enqueue("own", .asap)
            trial.pass()
            let (queue, other) = (trial.queue, trial.source("woken by something else"))
            let isRunning = Gate("the run loop")
            // This package's queue gets as much time as a busy machine needs. A queue that does not wake the run loop
            // is not waited for.
            let pause: TimeInterval =
                trial.maker as? QueueKind == .postingQueue ? QueueTrial.timeout / .seconds(1) : 0.25
            RunLoop.current.perform { isRunning.open() }
            let thread = RunLoopThread(name: "second")
            try thread.start()
            try thread.perform {
                try? isRunning.wait(timeout: QueueTrial.timeout)
                MainThreadState.waitUntilAsleep(timeout: QueueTrial.timeout)
                queue.enqueue("second thread's", .asap)
                DispatchQueue.global().asyncAfter(deadline: .now() + pause) { other.signal() }
            }
            trial.waitForEvent()
            trial.run()
            thread.stop()
            try thread.waitUntilFinished(timeout: QueueTrial.timeout)
        },
        QueuePromise(
            "thread-ends", "notifications that wait when the thread ends: counted and traced", fact: "F9",
            expected: ["traced", "counted"]
        ) { trial in
            let (maker, center, notes) = (trial.maker, trial.center, trial.notes)
            defer { DeliveryEvent.tracer = nil }
            DeliveryEvent.tracer = { if $0.stage == .targetGone { notes.note("traced") } }
            let queue = Locked<(any QueueUnderTest)?>(nil)
            try onSecondThread {
                let own = maker.makeQueue(for: center)
                own.enqueue("idle", .whenIdle, modes: [QueueTrial.modal])
                queue.withLock { $0 = own }
            }
            if queue.withLock({ $0 })?.targetGone == 1 { notes.note("counted") }
        },
        QueuePromise(
            "queue-goes", "a queue is deallocated when its owner releases it", expected: ["gone", "asap"],
            isOrdered: false
        ) { trial in
            weak var object: AnyObject?
            do {
                let queue = trial.maker.makeQueue(for: trial.center)
                queue.enqueue("asap", .asap)
                object = queue.object
            }
            trial.pass()
            trial.notes.note(object == nil ? "gone" : "stays")
        },
    ]

    private static let currentThread =
        "you can post a notification asynchronously to the current thread by putting it in a queue."

    /// Performs a block on a second thread with a run loop, calls `then`, and ends the thread.
    @MainActor
    private static func onSecondThread(
        _ block: @escaping @Sendable () -> Void, then: () -> Void = {}
    ) throws {
        let thread = RunLoopThread(name: "second")
        try thread.start()
        try thread.performAndWait(timeout: QueueTrial.timeout, block)
        then()
        thread.stop()
        try thread.waitUntilFinished(timeout: QueueTrial.timeout)
    }
}
