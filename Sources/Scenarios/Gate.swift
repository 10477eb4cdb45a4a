internal import Foundation
internal import ThreadedNotifications

/// A one-time event that threads can wait for.
struct Gate: Sendable {
    private let state = Locked(false)
    /// Signalled when the gate opens, and again by each wait that returns, so that all waits return.
    private let opened = MonotonicSemaphore()
    private let name: String

    /// - Parameter name: what the wait is for, in error messages.
    init(_ name: String) { self.name = name }

    /// Lets all waits return, current and later ones. Calling it again has no effect: a notification that is delivered
    /// twice may open a gate twice, and the scenario reports that.
    func open() {
        let wasOpen = state.withLock { isOpen in
            defer { isOpen = true }
            return isOpen
        }
        if !wasOpen { opened.signal() }
    }

    var isOpen: Bool { state.withLock { $0 } }

    /// Blocks the calling thread.
    func wait(timeout: Duration) throws(ScenarioError) {
        if isOpen { return }
        guard opened.wait(until: .after(timeout)) else { throw .timedOut(waitingFor: name, after: timeout) }
        opened.signal()
    }

    /// Runs the current thread's run loop until the gate is open, which it checks after each source that it handles.
    /// Another thread that opens the gate must signal a port of this run loop afterwards.
    func runLoop(timeout: Duration) throws(ScenarioError) {
        let deadline = SuspendingClock.Instant.after(timeout)
        while !isOpen {
            let left = SuspendingClock.now.duration(to: deadline) / .seconds(1)
            guard left > 0, RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: left)) else {
                throw .timedOut(waitingFor: name, after: timeout)
            }
        }
    }
}
