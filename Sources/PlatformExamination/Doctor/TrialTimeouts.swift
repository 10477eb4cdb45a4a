internal import Dispatch
internal import Foundation

/// Time limits of trials.
enum TrialTimeouts {
    /// The longest wait for an event that Foundation is known not to produce.
    static let foundation = Duration.seconds(1)
    /// The longest wait for this package. It only bounds a hang, so it is long enough for a busy machine.
    static let ours = Duration.seconds(50)

    /// Ends the process with a normal exit status after the timeout. For calls that may block the thread that would
    /// check.
    static func endProcess(after timeout: Duration = foundation, _ notes: TrialNotes, saying text: String) {
        DispatchQueue.global().asyncAfter(deadline: .now() + timeout / .seconds(1)) {
            notes.note(text, detail: "after \(timeout.components.seconds) s")
            _exit(0)
        }
    }

    /// Runs the main run loop until a condition holds or the timeout has passed.
    @MainActor
    static func runMain(until condition: () -> Bool, timeout: Duration) {
        let deadline = ContinuousClock.now + timeout
        while !condition(), ContinuousClock.now < deadline {
            // Short runs, because the event that makes the condition true need not wake the run loop.
            _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.005))
        }
    }
}
