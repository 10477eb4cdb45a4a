import Dispatch
import Foundation
import Synchronization
import SystemPackage

/// How far something long is, on one line of standard error that goes again. Only on a terminal, and only for what
/// takes longer than a second.
final class ProgressLine: Sendable {
    private struct State {
        var nextAt: ContinuousClock.Instant
        var isShown = false
        /// How often something else was to be shown, or nothing.
        var changes = 0
    }

    private let name: String
    private let isWanted = isatty(FileDescriptor.standardError.rawValue) == 1
    private let state: Mutex<State>

    /// - Parameter begun: when what is long began, if this is a part of it.
    init(_ name: String, since begun: ContinuousClock.Instant = .now) {
        self.name = name
        state = Mutex(State(nextAt: begun.advanced(by: .seconds(1))))
    }

    /// - Parameter text: asked for only when it is shown.
    func show(_ text: @autoclosure () -> String) {
        guard isWanted else { return }
        let isDue = state.withLock { state in
            let now = ContinuousClock.now
            guard now >= state.nextAt else { return false }
            state.nextAt = now.advanced(by: .milliseconds(100))
            state.isShown = true
            state.changes += 1
            return true
        }
        if isDue { write("\r\(name): \(text())\u{1B}[K") }
    }

    /// For what may last and says nothing meanwhile: shown at once or when it has lasted long enough, unless something
    /// else was shown, or all was cleared, by then.
    func showWhenDue(_ text: String) {
        show(text)
        guard isWanted else { return }
        let (changes, wait) = state.withLock { ($0.changes, max(.zero, $0.nextAt - .now)) }
        DispatchQueue.global().asyncAfter(deadline: .now() + wait / .seconds(1)) { [self] in
            state.withLock { state in
                guard state.changes == changes, !state.isShown else { return }
                state.isShown = true
                // Under the lock, so that it is not written after it was cleared.
                write("\r\(name): \(text)\u{1B}[K")
            }
        }
    }

    func clear() {
        let wasShown = state.withLock { state in
            defer { state.isShown = false }
            state.changes += 1
            return state.isShown
        }
        if wasShown { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        // A progress that cannot be shown is not missed.
        _ = try? FileDescriptor.standardError.writeAll(Array(text.utf8))
    }
}
