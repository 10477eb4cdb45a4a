internal import Foundation
internal import ThreadedNotifications

extension RunLoop {
    /// Runs the current thread's run loop in one mode until something is so, looking again after each source that it
    /// handled. What makes it so on another thread must signal a port of this run loop afterwards.
    static func runCurrent(
        _ mode: RunLoop.Mode = .default, until isSo: () -> Bool, waitingFor name: String, limit: Duration
    ) throws(ScenarioError) {
        let deadline = ContinuousClock.Instant.after(limit)
        while !isSo() {
            let left = ContinuousClock.now.duration(to: deadline) / .seconds(1)
            guard left > 0, current.run(mode: mode, before: Date(timeIntervalSinceNow: left)) else {
                throw .timedOut(waitingFor: name, after: limit)
            }
        }
    }
}
