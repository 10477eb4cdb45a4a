internal import ThreadedNotifications

/// A one-time event that threads can wait for.
package struct Gate: Sendable {
    private let state = Locked(false)
    /// Signalled when the gate opens, and again by each wait that returns, so that all waits return.
    private let opened = MonotonicSemaphore()
    private let name: String

    /// - Parameter name: what the wait is for, in error messages.
    package init(_ name: String) {
        self.name = name
    }

    /// Lets all waits return, current and later ones. Calling it again has no effect: a notification that is delivered
    /// twice may open a gate twice, and the scenario reports that.
    package func open() {
        let wasOpen = state.withLock { isOpen in
            defer { isOpen = true }
            return isOpen
        }
        if !wasOpen { opened.signal() }
    }

    package var isOpen: Bool { state.withLock { $0 } }

    /// Blocks the calling thread.
    package func wait(timeout: Duration) throws(ScenarioError) {
        if isOpen { return }
        guard opened.wait(until: .after(timeout)) else { throw .timedOut(waitingFor: name, after: timeout) }
        opened.signal()
    }
}
