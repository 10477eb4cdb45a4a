internal import Dispatch
internal import Foundation

/// How long what is asked may take.
enum ProbeLimits {
    /// What is known not to happen in Foundation is not waited for any longer.
    static let foundation = Duration.seconds(1)
    /// What this package has to do. It only bounds a hang, so it is long enough for a busy machine.
    static let ours = Duration.seconds(50)

    /// Ends the process, as one that has answered, if it is still there after the limit: for what may block the thread that
    /// would look.
    static func endProcess(after limit: Duration = foundation, _ notes: TrialNotes, saying words: String) {
        DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1)) {
            notes.note(words, detail: "after \(limit.components.seconds) s")
            _exit(0)
        }
    }

    /// Runs the main run loop until something is so, or the limit has passed.
    @MainActor
    static func runMain(until isSo: () -> Bool, limit: Duration) {
        let deadline = ContinuousClock.now + limit
        while !isSo(), ContinuousClock.now < deadline {
            // In turns, since what makes it so need not wake the run loop.
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.005))
        }
    }
}
