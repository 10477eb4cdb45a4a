internal import ThreadedNotifications

/// What has happened, in order; may be told from any thread.
final class TrialNotes: Sendable {
    private let noted = Locked<[TrialEvent]>([])
    private let echo: @Sendable (String) -> Void

    /// - Parameter echo: told of each event at once, as a line, for the process may not live to tell them all.
    init(echo: @escaping @Sendable (String) -> Void) {
        self.echo = echo
    }

    var events: [TrialEvent] { noted.withLock { $0 } }

    /// - Parameter detail: what differs from run to run.
    func note(_ words: String, detail: String? = nil) {
        let event = TrialEvent(words, detail: detail)
        noted.withLock { $0.append(event) }
        echo(event.line)
    }
}
