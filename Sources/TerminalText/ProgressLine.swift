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

    package init(_ name: String) {
        self.name = name
        state = Mutex(State(nextAt: .now.advanced(by: .seconds(1))))
    }

    /// - Parameter text: evaluated only if it is shown.
    package func show(_ text: @autoclosure () -> String) {
        guard isWanted else { return }
        state.withLock { state in
            let now = SuspendingClock.now
            guard now >= state.nextAt else { return }
            state.nextAt = now.advanced(by: .milliseconds(100))
            write(text(), &state)
        }
    }

    /// For a step without intermediate progress: shows the text when a second has passed, unless the line has changed
    /// by then.
    package func showWhenDue(_ text: String) {
        guard isWanted else { return }
        let (changes, wait) = state.withLock { ($0.changes, max(.zero, $0.nextAt - .now)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + wait / .seconds(1)) { [self] in
            state.withLock { if $0.changes == changes { write(text, &$0) } }
        }
    }

    package func clear() {
        state.withLock { state in
            state.changes += 1
            if state.isShown { write(nil, &state) }
        }
    }

    /// Under the lock, so that a cleared line is not written again.
    private func write(_ text: String?, _ state: inout State) {
        state.isShown = text != nil
        state.changes += 1
        let line = text.map { "\(name): \(ShownText.escaped($0))" } ?? ""
        // A progress line that cannot be shown is not worth an error.
        try? FileHandle.standardError.write(contentsOf: Data("\r\(line)\u{1B}[K".utf8))
    }
}
