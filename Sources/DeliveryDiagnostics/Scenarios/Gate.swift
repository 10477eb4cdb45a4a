internal import ThreadedNotifications

/// Something that happens once, and that threads may wait for.
struct Gate: Sendable {
    private let state = Locked(false)
    /// Signalled when the gate opens, and again by each wait that the signal lets return.
    private let opened = MonotonicSemaphore()
    private let name: String

    /// - Parameter name: what is waited for, as errors call it.
    init(_ name: String) {
        self.name = name
    }

    /// Lets all waits return, those under way and later ones. Further calls do nothing: a notification that is
    /// delivered twice may open a gate twice, and the scenario reports it.
    func open() {
        let wasOpen = state.withLock { isOpen in
            defer { isOpen = true }
            return isOpen
        }
        if !wasOpen { opened.signal() }
    }

    var isOpen: Bool { state.withLock { $0 } }

    /// Blocks the calling thread.
    func wait(limit: Duration) throws(ScenarioError) {
        if isOpen { return }
        guard opened.wait(until: .after(limit)) else { throw .timedOut(waitingFor: name, after: limit) }
        opened.signal()
    }
}
