internal import Dispatch

/// Something that happens once, and that threads may wait for.
struct Gate: Sendable {
    private let group = DispatchGroup()
    private let name: String

    /// - Parameter name: what is waited for, as errors call it.
    init(_ name: String) {
        self.name = name
        group.enter()
    }

    /// Lets all who wait, now and later, go on. To be called once.
    func open() {
        group.leave()
    }

    var isOpen: Bool {
        group.wait(timeout: .now()) == .success
    }

    /// Blocks the calling thread.
    func wait(limit: Duration) throws(ScenarioError) {
        // 30 years are as good as for ever, and do not overflow.
        let nanoseconds = Int(min(limit, .seconds(1_000_000_000)) / .nanoseconds(1))
        guard group.wait(timeout: .now() + .nanoseconds(nanoseconds)) == .success else {
            throw .timedOut(waitingFor: name, after: limit)
        }
    }
}
