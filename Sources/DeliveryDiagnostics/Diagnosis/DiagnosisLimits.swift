/// Thresholds above which an observation becomes a finding.
package struct DiagnosisLimits: Sendable, Hashable {
    package static let usual = DiagnosisLimits()

    /// How long a handler may occupy the main thread.
    package var mainBudget = ElapsedTime.milliseconds(16)
    /// How many notifications may wait for one thread.
    package var depth = 1000
    /// How long a thread may stay in one handler, or ignore what waits for it, while others continue.
    package var stall = ElapsedTime.milliseconds(1000)
    /// How many times in a row a handler may cause its own next call.
    package var chain = 100
}
