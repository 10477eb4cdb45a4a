internal import ThreadedNotifications

/// The events of a trial, in order. May be used on any thread.
final class TrialNotes: Sendable {
    private let noted = Locked<[TrialEvent]>([])
    private let echo: @Sendable (String) -> Void

    /// - Parameter echo: receives each event at once, as a line, because the process may crash before it ends.
    init(echo: @escaping @Sendable (String) -> Void) {
        self.echo = echo
    }

    var events: [TrialEvent] { noted.withLock { $0 } }

    /// - Parameter detail: the part that differs from run to run.
    func note(_ words: String, detail: String? = nil) {
        let event = TrialEvent(words, detail: detail)
        noted.withLock { $0.append(event) }
        echo(event.line)
    }
}
