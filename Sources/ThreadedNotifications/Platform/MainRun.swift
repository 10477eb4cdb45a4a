internal import CoreFoundation
internal import Foundation

/// One call of `MainRunLoop.run`.
@MainActor
final class MainRun {
    /// Nil after the run, because the caller's closure must not escape.
    private var condition: (@MainActor () -> Bool)?
    private let signals: SignalWatch
    private var end: MainRunLoop.End?
    /// The number of runs in the default mode since this one began, nested in each other.
    private var depth = 0

    init(until condition: @escaping @MainActor () -> Bool, stoppingOn signals: [CInt]) {
        self.condition = condition
        self.signals = SignalWatch(signals)
    }

    func run() -> MainRunLoop.End {
        let observer = RunLoopObserver { activity in MainActor.assumeIsolated { self.runLoop(will: activity) } }
        observer.add(to: .main, mode: .common)
        // In a block of the main queue the run loop may have nothing to wait for, and would return at once.
        let keeper = RunLoopSource {}
        keeper.add(to: .main, mode: .default)
        defer {
            keeper.invalidate()
            condition = nil
            signals.end()
        }
        let mustEndOuterRun = ThreadContext.withCurrent(\.mustEndRun)
        ThreadContext.withCurrent { context in
            context.mustEndRun = { MainActor.assumeIsolated { self.depth == 1 && self.hasReasonToEnd() } }
        }
        defer { ThreadContext.withCurrent { $0.mustEndRun = mustEndOuterRun } }
        // Other code may stop the run loop.
        while !hasReasonToEnd() { RunLoop.runCurrent(for: signals.wakesRunLoop ? nil : 0.1) }
        observer.invalidate()
        return end ?? .stopped
    }

    private func runLoop(will activity: CFRunLoopActivity) {
        switch activity {
        case .entry: depth += 1
        case .exit: depth -= 1
        case .beforeTimers, .beforeWaiting:
            // A nested run is not this object's to stop.
            guard depth == 1 else { return }
            // Again before the run loop waits: a nested run may have used up what woke it.
            if hasReasonToEnd() { RunLoop.stopCurrent() }
        default: break
        }
    }

    private func hasReasonToEnd() -> Bool {
        if end == nil, let signal = signals.take() { end = .signal(signal) }
        if end == nil, MainRunLoop.takeStop() { end = .stopped }
        if end == nil, condition?() == true { end = .conditionHeld }
        return end != nil
    }
}
