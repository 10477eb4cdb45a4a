internal import Foundation
internal import ThreadedNotifications

/// F22: programs with an `async` main function. This package's counterpart is a synchronous main function that runs the
/// run loop.
extension Question {
    static let asyncMain: [Question] = [
        Question(
            "main-actor-thread", "the main actor runs on the main thread", fact: "F22",
            expected: ["on the main thread"], ofOurs: ["synchronous main: on the main thread"]
        ) { trial in
            continueAsMain(trial) { noteThread(trial) }
        },
        Question(
            "main-timers", "timers of RunLoop.main fire", fact: "F22", expected: ["fired"],
            ofOurs: ["synchronous main: fired"]
        ) { trial in
            trial.addTimer(after: .milliseconds(50)) { note("fired", trial) }
            continueAsMain(trial) {}
        },
        Question(
            "main-observers", "what is posted on another thread is handled on the main thread by its run loop",
            fact: "F22", expected: ["performed"], ofOurs: ["synchronous main: on the main thread"]
        ) { trial in
            continueAsMain(trial) { RunLoop.main.perform { trial.note("performed") } }
        } ours: { trial in
            trial.center.addObserver(on: .main(.ours)) { noteThread(trial) }
            Thread.detachNewThread { trial.center.post() }
            continueAsMain(trial) {}
        },
    ]

    private static func noteThread(_ trial: Trial) {
        note(Thread.isMainThread ? "on the main thread" : "on another thread", trial)
    }

    private static func note(_ words: String, _ trial: Trial) {
        trial.note(trial.side == .ours ? "synchronous main: \(words)" : words)
    }

    /// Continues as a program with an `async` main function does, or, for this package, with a main function that
    /// starts a task and runs the run loop. Ends after the first event, or when there was enough time for one.
    @MainActor
    private static func continueAsMain(_ trial: Trial, _ body: @escaping @MainActor @Sendable () -> Void) {
        Task { @MainActor in
            // An async main function begins on the main thread. Only the part after a suspension shows the defect.
            try? await Task.sleep(for: .milliseconds(10))
            body()
            guard trial.side == .foundation else { return }
            let deadline = ContinuousClock.now + trial.patience
            while trial.events.isEmpty, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(10)) }
            _exit(0)
        }
        switch trial.side {
        case .foundation: runAsyncMain()
        case .ours: trial.runUntilNextEvent()
        }
    }
}

/// The runtime function that the compiler calls after it has made the task of an `async` main function.
@_silgen_name("swift_task_asyncMainDrainQueue")
private func runAsyncMain() -> Never
