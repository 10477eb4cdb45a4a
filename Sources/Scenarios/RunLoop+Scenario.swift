internal import Foundation
internal import ThreadedNotifications

extension RunLoop {
    /// Runs the current thread's run loop in one mode until a condition holds. It checks the condition after each
    /// source that the run loop handles. A thread that makes the condition true must signal a port of this run loop
    /// afterwards.
    static func runCurrent(
        _ mode: RunLoop.Mode = .default, until condition: () -> Bool, waitingFor name: String, timeout: Duration
    ) throws(ScenarioError) {
        let deadline = ContinuousClock.Instant.after(timeout)
        while !condition() {
            let left = ContinuousClock.now.duration(to: deadline) / .seconds(1)
            guard left > 0, current.run(mode: mode, before: Date(timeIntervalSinceNow: left)) else {
                throw .timedOut(waitingFor: name, after: timeout)
            }
        }
    }

    /// Adds a timer that is already due.
    func addTimer(_ mode: RunLoop.Mode = .default, _ fire: @escaping @Sendable () -> Void) {
        add(Timer(fire: Date(), interval: 0, repeats: false) { _ in fire() }, forMode: mode)
    }
}
