internal import Dispatch
internal import Foundation

/// Time limits of trials.
enum ProbeLimits {
    /// The longest wait for an event that Foundation is known not to produce.
    static let foundation = Duration.seconds(1)
    /// The longest wait for this package. It only bounds a hang, so it is long enough for a busy machine.
    static let ours = Duration.seconds(50)

    /// Ends the process with a normal exit status after the limit. For calls that may block the thread that would
    /// check.
    static func endProcess(after limit: Duration = foundation, _ notes: TrialNotes, saying text: String) {
        DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1)) {
            notes.note(text, detail: "after \(limit.components.seconds) s")
            _exit(0)
        }
    }

    /// Runs the main run loop until a condition holds or the limit has passed.
    @MainActor
    static func runMain(until condition: () -> Bool, limit: Duration) {
        let deadline = ContinuousClock.now + limit
        while !condition(), ContinuousClock.now < deadline {
            // Short runs, because the event that makes the condition true need not wake the run loop.
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.005))
        }
    }
}
