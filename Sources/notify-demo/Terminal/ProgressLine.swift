import Foundation
import Synchronization
import SystemPackage

/// How far something long is, on one line of standard error that goes again. Only on a terminal, and only for what
/// takes longer than a second.
final class ProgressLine: Sendable {
    private struct State {
        var nextAt: ContinuousClock.Instant
        var isShown = false
    }

    private let name: String
    private let isWanted = isatty(FileDescriptor.standardError.rawValue) == 1
    private let state: Mutex<State>

    init(_ name: String) {
        self.name = name
        state = Mutex(State(nextAt: .now.advanced(by: .seconds(1))))
    }

    /// - Parameter text: asked for only when it is shown.
    func show(_ text: @autoclosure () -> String) {
        guard isWanted else { return }
        let isDue = state.withLock { state in
            let now = ContinuousClock.now
            guard now >= state.nextAt else { return false }
            state.nextAt = now.advanced(by: .milliseconds(100))
            state.isShown = true
            return true
        }
        if isDue { write("\r\(name): \(text())\u{1B}[K") }
    }

    func clear() {
        let wasShown = state.withLock { state in
            defer { state.isShown = false }
            return state.isShown
        }
        if wasShown { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        // A progress that cannot be shown is not missed.
        _ = try? FileDescriptor.standardError.writeAll(Array(text.utf8))
    }
}
