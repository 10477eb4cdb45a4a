internal import ThreadedNotifications

/// What has happened, in order; may be told from any thread.
final class TrialNotes: Sendable {
    private let noted = Locked<[String]>([])
    private let echo: @Sendable (String) -> Void

    /// - Parameter echo: told of each event at once, for the process may not live to tell them all.
    init(echo: @escaping @Sendable (String) -> Void) {
        self.echo = echo
    }

    var events: [String] { noted.withLock { $0 } }

    func note(_ event: String) {
        noted.withLock { $0.append(event) }
        echo(event)
    }
}
