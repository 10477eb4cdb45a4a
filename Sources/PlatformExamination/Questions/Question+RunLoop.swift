internal import Foundation
internal import ThreadedNotifications

/// F13 and F14: run loops and timers. This package's counterparts are blocks performed on a thread, at once and after a
/// delay.
extension Question {
    static let runLoop: [Question] = [
        Question(
            "perform-wakes-the-loop", "a block for a run loop that sleeps is performed before its next timer",
            fact: "F13", expected: ["performed"]
        ) { trial in
            // A run loop that is not woken performs the block when the timer fires.
            let timer = trial.side == .foundation ? Duration.milliseconds(500) : Trial.timeout
            trial.addTimer(after: timer) { trial.note("timer") }
            let (isRunning, isPerformed) = (MonotonicSemaphore(), Locked(false))
            RunLoop.main.perform { isRunning.signal() }
            Thread.detachNewThread {
                try? isRunning.wait(for: "the run loop")
                Trial.waitUntilMainThreadSleeps()
                let start = ContinuousClock.now
                let block: @Sendable () -> Void = {
                    trial.note("performed", detail: Trial.time(since: start))
                    isPerformed.withLock { $0 = true }
                }
                switch trial.side {
                case .foundation: RunLoop.main.perform { block() }
                case .ours: try? TargetThread.main.perform(block)
                }
            }
            trial.run(until: { isPerformed.withLock { $0 } }, pass: timer + .milliseconds(100))
        },
        Question(
            "timer-interval", "a timer of 300 ms that is added to a run loop fires after 300 ms", fact: "F14",
            expected: ["fires when it is due"]
        ) { trial in
            let (interval, start) = (Duration.milliseconds(300), ContinuousClock.now)
            let fire: @Sendable () -> Void = {
                let isDue = start.duration(to: .now) >= interval - .milliseconds(10)
                trial.note(
                    isDue ? "fires when it is due" : "fires too early", detail: Trial.time(since: start))
            }
            switch trial.side {
            case .foundation:
                RunLoop.main.add(
                    Timer(timeInterval: interval / .seconds(1), repeats: false) { _ in fire() }, forMode: .default)
            case .ours: try TargetThread.main.perform(after: interval, fire)
            }
            trial.runUntilNextEvent()
        },
    ]
}
