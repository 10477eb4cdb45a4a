internal import Foundation

extension RunLoop {
    /// Runs the current thread's run loop in one mode until something is so, looking again after each source that it
    /// handled. What makes it so on another thread must signal a port of this run loop afterwards.
    static func runCurrent(
        _ mode: RunLoop.Mode = .default, until isSo: () -> Bool, waitingFor name: String, limit: Duration
    ) throws(ScenarioError) {
        let deadline = Date(timeIntervalSinceNow: limit / .seconds(1))
        while !isSo() {
            guard deadline.timeIntervalSinceNow > 0, current.run(mode: mode, before: deadline) else {
                throw .timedOut(waitingFor: name, after: limit)
            }
        }
    }
}
