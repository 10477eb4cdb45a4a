internal import CoreFoundation
internal import Foundation

/// Wakes a thread, so that it drains its mailbox.
protocol ThreadSignal: AnyObject, Sendable {
    /// Threads: any.
    func send()
    /// True if the calling thread's run loop serves the mailbox in its current mode.
    var isServedNow: Bool { get }
    /// The thread ends, and calls it; or any thread, if there is no thread.
    func invalidate()
}

/// Wakes a thread that runs its run loop: a source in the common modes drains the mailbox.
///
/// An observer of the beginning of each run signals the source if there is work: what an outer drain or post has begun,
/// the inner run goes on with.
final class RunLoopSignal: ThreadSignal {
    private let source = RunLoopSource { ThreadContext.withCurrent { Drain.run($0) } }
    private let observer = RunLoopObserver(of: [.entry]) { _ in ThreadContext.withCurrent { $0.signalIfWorkIsLeft() } }
    private let runLoop: RunLoopReference

    init(_ runLoop: RunLoopReference) {
        self.runLoop = runLoop
        source.add(to: runLoop, mode: .common)
        observer.add(to: runLoop, mode: .common)
    }

    func send() {
        source.signal()
        runLoop.wakeUp()
    }

    var isServedNow: Bool { observer.isInCurrentMode }

    func invalidate() {
        source.invalidate()
        observer.invalidate()
    }
}
