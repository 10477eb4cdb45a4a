internal import Foundation
internal import Scenarios
internal import ThreadedNotifications

/// F13 and F14: run loops and timers. This package's counterparts are blocks performed on a thread, at once and after a
/// delay.
extension PlatformFact {
    static let runLoop: [PlatformFact] = [
        PlatformFact(
            number: "F13", area: "RunLoop.perform", expected: "wakes a run loop that sleeps",
            questions: [
                TrialQuestion(
                    "perform-wakes-the-loop", "a block for a run loop that sleeps is performed before its next timer",
                    expected: TrialExpectation(events: ["performed"]),
                    foundation: { notes in
                        performWhileAsleep(notes, timer: .milliseconds(500)) { block in RunLoop.main.perform { block() }
                        }
                    },
                    ours: .body { notes in
                        performWhileAsleep(notes, timer: TrialTimeouts.ours) { block in
                            try? TargetThread.main.perform(block)
                        }
                    })
            ]),
        PlatformFact(
            number: "F14", area: "Timer", expected: "Timer(timeInterval: 2, …) fires after 2 s",
            questions: [
                TrialQuestion(
                    "timer-interval", "a timer of 300 ms that is added to a run loop fires after 300 ms",
                    expected: TrialExpectation(events: ["fires when it is due"]),
                    foundation: { notes in
                        noteDelay(notes) { interval, fire in
                            RunLoop.main.add(
                                Timer(timeInterval: interval / .seconds(1), repeats: false) { _ in fire() },
                                forMode: .default)
                        }
                    },
                    ours: .body { notes in
                        try noteDelay(notes) { interval, fire in
                            try TargetThread.main.perform(after: interval, fire)
                        }
                    })
            ]),
    ]

    /// Performs a block on the main thread from a second thread, while the main thread sleeps in its run loop until a
    /// timer is due.
    @MainActor
    private static func performWhileAsleep(
        _ notes: TrialNotes, timer delay: Duration,
        _ perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
    ) {
        let (isRunning, isPerformed) = (Gate("the run loop"), Gate("the block"))
        let handedOverAt = Locked<ContinuousClock.Instant?>(nil)
        let seconds = delay / .seconds(1)
        RunLoop.main.add(
            Timer(fire: Date(timeIntervalSinceNow: seconds), interval: 0, repeats: false) { _ in notes.note("timer") },
            forMode: .default)
        RunLoop.main.perform { isRunning.open() }
        Thread.detachNewThread {
            try? isRunning.wait(timeout: TrialTimeouts.ours)
            MainThreadState.waitUntilAsleep(timeout: TrialTimeouts.ours)
            handedOverAt.withLock { $0 = .now }
            perform {
                let waited = handedOverAt.withLock { $0 }?.millisecondsAgo ?? 0
                notes.note("performed", detail: "after \(waited) ms")
                isPerformed.open()
            }
        }
        let deadline = ContinuousClock.now + TrialTimeouts.ours
        while !isPerformed.isOpen, ContinuousClock.now < deadline {
            // Runs to the deadline in one call: shorter calls would wake the run loop before the timer does.
            _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: seconds + 0.1))
        }
    }

    @MainActor
    private static func noteDelay(
        _ notes: TrialNotes, _ arm: (Duration, @escaping @Sendable () -> Void) throws -> Void
    ) rethrows {
        let (interval, start) = (Duration.milliseconds(300), ContinuousClock.now)
        try arm(interval) {
            let isDue = start.duration(to: .now) >= interval - .milliseconds(10)
            notes.note(
                isDue ? "fires when it is due" : "fires too early", detail: "after \(start.millisecondsAgo) ms")
        }
        TrialTimeouts.runMain(until: { !notes.events.isEmpty }, timeout: TrialTimeouts.ours)
    }
}
