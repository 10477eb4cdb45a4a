internal import Foundation
internal import Scenarios
internal import ThreadedNotifications

/// F22: programs with an `async` main function. This package's counterpart is a synchronous main function that runs the
/// run loop.
extension PlatformFact {
    static let asyncMain: [PlatformFact] = [
        PlatformFact(
            number: "F22", area: "async main", expected: "the main actor is on the main thread, and its run loop runs",
            questions: [
                TrialQuestion(
                    "main-actor-thread", "the main actor runs on the main thread",
                    expected: TrialExpectation(events: ["on the main thread"]),
                    foundation: { notes in
                        asAsyncMain(notes) { noteThread(notes) }
                    },
                    ours: .other(TrialExpectation(events: ["synchronous main: on the main thread"])) { notes in
                        asSynchronousMain(notes) { noteThread(notes, "synchronous main: ") }
                    }),
                TrialQuestion(
                    "main-timers", "timers of RunLoop.main fire",
                    expected: TrialExpectation(events: ["fired"]),
                    foundation: { notes in
                        addTimer(notes)
                        asAsyncMain(notes) {}
                    },
                    ours: .other(TrialExpectation(events: ["synchronous main: fired"])) { notes in
                        addTimer(notes, "synchronous main: ")
                        asSynchronousMain(notes) {}
                    }),
                TrialQuestion(
                    "main-observers", "what is posted on another thread is handled on the main thread by its run loop",
                    expected: TrialExpectation(events: ["performed"]),
                    foundation: { notes in
                        asAsyncMain(notes) { RunLoop.main.perform { notes.note("performed") } }
                    },
                    ours: .other(TrialExpectation(events: ["synchronous main: on the main thread"])) { notes in
                        let center = ThreadedNotificationCenter()
                        let token = center.addObserver(forName: TestNotification.foundationName, on: .main) { _ in
                            noteThread(notes, "synchronous main: ")
                        }
                        Thread.detachNewThread { center.post(name: TestNotification.foundationName) }
                        asSynchronousMain(notes) {}
                        token.cancel()
                    }),
            ])
    ]

    /// Continues as a program with an `async` main function does. The process ends after the first event, or when there
    /// was enough time for one.
    @MainActor
    private static func asAsyncMain(_ notes: TrialNotes, _ body: @escaping @MainActor @Sendable () -> Void) -> Never {
        Task { @MainActor in
            // An async main function begins on the main thread. Only the part after a suspension shows the defect.
            try? await Task.sleep(for: .milliseconds(10))
            body()
            let deadline = ContinuousClock.now + TrialTimeouts.foundation
            while notes.events.isEmpty, ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(10)) }
            _exit(0)
        }
        runAsyncMain()
    }

    /// Continues like a program with a main function that starts a task and runs the run loop.
    @MainActor
    private static func asSynchronousMain(_ notes: TrialNotes, _ body: @escaping @MainActor @Sendable () -> Void) {
        Task { @MainActor in
            try? await Task.sleep(for: .milliseconds(10))
            body()
        }
        TrialTimeouts.runMain(until: { !notes.events.isEmpty }, timeout: TrialTimeouts.ours)
    }

    private static func noteThread(_ notes: TrialNotes, _ prefix: String = "") {
        notes.note(prefix + (Thread.isMainThread ? "on the main thread" : "on another thread"))
    }

    @MainActor
    private static func addTimer(_ notes: TrialNotes, _ prefix: String = "") {
        let timer = Timer(fire: Date(timeIntervalSinceNow: 0.05), interval: 0, repeats: false) { _ in
            notes.note("\(prefix)fired")
        }
        RunLoop.main.add(timer, forMode: .default)
    }
}

/// The runtime function that the compiler calls after it has made the task of an `async` main function.
@_silgen_name("swift_task_asyncMainDrainQueue")
private func runAsyncMain() -> Never
