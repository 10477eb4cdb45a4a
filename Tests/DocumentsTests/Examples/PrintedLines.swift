import ThreadedNotifications

/// The lines that an example prints, on any thread.
final class PrintedLines: Sendable {
    private let stored = Locked<[String]>([])

    var lines: [String] { stored.withLock { $0 } }

    func add(_ line: String) { stored.withLock { $0.append(line) } }
}
