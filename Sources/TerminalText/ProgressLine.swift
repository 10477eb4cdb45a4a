internal import Foundation
internal import Synchronization

/// A transient progress line on standard error. It appears only on a terminal, and only after a second.
package final class ProgressLine: Sendable {
    private struct State {
        var nextAt: SuspendingClock.Instant
        var isShown = false
        /// Counts the calls that changed the line.
        var changes = 0
    }

    private let name: String
    private let isWanted = TerminalStream.standardError.isTerminal
    private let state: Mutex<State>

    /// - Parameter begun: when the whole task began, if this line is for a part of it.
    package init(_ name: String, since begun: SuspendingClock.Instant = .now) {
        self.name = name
        state = Mutex(State(nextAt: begun.advanced(by: .seconds(1))))
    }

    /// - Parameter text: evaluated only if it is shown.
    package func show(_ text: @autoclosure () -> String) {
        guard isWanted else { return }
        let isDue = state.withLock { state in
            let now = SuspendingClock.now
            guard now >= state.nextAt else { return false }
            state.nextAt = now.advanced(by: .milliseconds(100))
            state.isShown = true
            state.changes += 1
            return true
        }
        if isDue { write(text()) }
    }

    /// For a step without intermediate progress: shows the text when a second has passed, unless the line has changed
    /// by then.
    package func showWhenDue(_ text: String) {
        guard isWanted else { return }
        let (changes, wait) = state.withLock { ($0.changes, max(.zero, $0.nextAt - .now)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + wait / .seconds(1)) { [self] in
            state.withLock { state in
                guard state.changes == changes else { return }
                state.isShown = true
                // Under the lock, so that a cleared line is not written again.
                write(text)
            }
        }
    }

    package func clear() {
        let wasShown = state.withLock { state in
            defer { state.isShown = false }
            state.changes += 1
            return state.isShown
        }
        if wasShown { write(nil) }
    }

    private func write(_ text: String?) {
        let line = text.map { "\(name): \(ShownText.escaped($0))" } ?? ""
        // A progress line that cannot be shown is not worth an error.
        try? FileHandle.standardError.write(contentsOf: Data("\r\(line)\u{1B}[K".utf8))
    }
}
