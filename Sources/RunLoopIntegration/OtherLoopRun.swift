internal import CoreFoundation
internal import Foundation
internal import ThreadedNotifications

/// A run of the calling thread's run loop during which another loop runs, in the place of the run loop's wait.
///
/// The other loop runs in an observer of the run's begin. CoreFoundation holds no lock there, and a wake-up has an
/// effect, as at any time in a run before the run loop waits.
final class OtherLoopRun {
    /// Nil when the other loop has begun, because the caller's closure must not escape.
    private var otherLoop: (() -> Void)?

    init(_ otherLoop: @escaping () -> Void) {
        self.otherLoop = otherLoop
    }

    func run() {
        // Safety: the run loop calls the observer on this thread, and it is invalidated before this returns.
        nonisolated(unsafe) let run = self
        let observer = RunLoopObserver(of: [.entry], isLast: true) { _ in run.runBegins() }
        observer.add(to: .current, mode: .default)
        defer {
            observer.invalidate()
            otherLoop = nil
        }
        RunLoop.runCurrent(for: nil)
    }

    private func runBegins() {
        guard let otherLoop else { return }
        self.otherLoop = nil
        otherLoop()
        // The run ends at once.
        RunLoop.stopCurrent()
    }
}
