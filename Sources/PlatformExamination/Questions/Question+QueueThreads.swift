internal import Foundation
internal import ThreadedNotifications

/// Promises about notification queues that two threads use, and about the lifetime of a queue.
extension Question {
    static let queueThreads: [Question] = [
        Question(
            "own-queue-of-a-second-thread", "a second thread's own queue: posted there", sentence: currentThread,
            expected: ["asap on another thread", "idle on another thread"], isOrdered: false
        ) { trial in
            try onSecondThread(then: { trial.run() }) {
                let queue = trial.makeQueue(trial.queueCenter)
                queue.enqueue("asap", .asap)
                queue.enqueue("idle", .whenIdle)
            }
        },
        Question(
            "default-queue-of-a-second-thread", "a second thread's default queue: posted there",
            sentence: currentThread, expected: ["asap on another thread"]
        ) { trial in
            trial.noteNotifications(of: .default)
            try onSecondThread(then: { trial.run() }) { trial.makeQueue(nil).enqueue("asap", .asap) }
        },
        Question(
            "enqueued-on-a-second-thread", "enqueued on a second thread: posted on the queue's thread", fact: "F9",
            expected: ["asap"]
        ) { trial in
            try onSecondThread { trial.queue.enqueue("asap", .asap) }
        },
        Question(
            "enqueued-on-both-threads", "enqueued on a second thread and on the queue's: both posted there",
            fact: "F9", expected: ["second thread's", "own"]
        ) { trial in
            let enqueueOwn = {
                trial.queue.enqueue("own", .asap)
                trial.run()
            }
            try onSecondThread(then: enqueueOwn) { trial.queue.enqueue("second thread's", .asap) }
        },
        Question(
            "used-queue-on-a-second-thread",
            "enqueued on a second thread to a used queue: posted on the queue's thread",
            expected: ["own", "second thread's"]
        ) { trial in
            trial.queue.enqueue("own", .asap)
            trial.pass()
            try onSecondThread { trial.queue.enqueue("second thread's", .asap) }
        },
        Question(
            "wakes-the-run-loop", "enqueued on a second thread while the run loop waits: wakes it",
            expected: ["own", "second thread's"]
        ) { trial in
            trial.queue.enqueue("own", .asap)
            trial.pass()
            let other = trial.addSource("woken by something else")
            let isRunning = MonotonicSemaphore()
            RunLoop.current.perform { isRunning.signal() }
            Thread.detachNewThread {
                try? isRunning.wait(for: "the run loop")
                Trial.waitUntilMainThreadSleeps()
                trial.queue.enqueue("second thread's", .asap)
                // Only this package's queue is given the time that a busy machine may need.
                let pause = trial.side == .ours ? Trial.timeout / .seconds(1) : 0.25
                DispatchQueue.global().asyncAfter(deadline: .now() + pause) { other.signal() }
            }
            trial.runUntilNextEvent(pass: Trial.timeout)
        },
        Question(
            "thread-ends", "notifications that wait when the thread ends: counted and traced", fact: "F9",
            expected: ["traced", "counted"]
        ) { trial in
            defer { DeliveryEvent.tracer = nil }
            DeliveryEvent.tracer = { if $0.stage == .targetGone { trial.note("traced") } }
            let queue = Locked<QueueUnderTest?>(nil)
            try onSecondThread {
                let own = trial.makeQueue(trial.queueCenter)
                own.enqueue("idle", .whenIdle, modes: [Trial.modal])
                queue.withLock { $0 = own }
            }
            if queue.withLock({ $0 })?.targetGone() == 1 { trial.note("counted") }
        },
        Question(
            "queue-goes", "a queue is deallocated when its owner releases it", expected: ["gone", "asap"],
            isOrdered: false
        ) { trial in
            weak var object: AnyObject?
            do {
                let queue = trial.makeQueue(trial.queueCenter)
                queue.enqueue("asap", .asap)
                object = queue.object
            }
            trial.pass()
            trial.note(object == nil ? "gone" : "stays")
        },
    ]

    private static let currentThread =
        "you can post a notification asynchronously to the current thread by putting it in a queue."

    /// Performs a block on a second thread with a run loop, calls `then` on this one, and ends the second thread.
    @MainActor
    private static func onSecondThread(then: () -> Void = {}, _ block: @escaping @Sendable () -> Void) throws {
        let thread = RunLoopThread(name: "second")
        try thread.start()
        try thread.performAndWait(timeout: Trial.timeout, block)
        then()
        thread.stop()
        try thread.waitUntilFinished(timeout: Trial.timeout)
    }
}
