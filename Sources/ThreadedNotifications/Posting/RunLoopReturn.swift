internal import Foundation

/// Has the run of the run loop that is under way return, if it returns after a source.
///
/// A source of the mode that the run loop runs in, which is signalled, and goes when it was handled: after all others, so that
/// it takes no other's turn. So it keeps no run loop from returning for want of sources, and makes no later run return.
/// Threads: everything is called on the run loop's thread.
//
// Safety: used on one thread only; it is Sendable for the source to call it there.
final class RunLoopReturn: @unchecked Sendable {
    private var source: RunLoopSource?

    func signal() {
        guard source == nil, let mode = RunLoop.current.currentMode else { return }
        let source = RunLoopSource(isLast: true, perform: { [weak self] in self?.withdraw() })
        self.source = source
        source.add(to: .current, mode: mode)
        source.signal()
    }

    /// Nothing returns for it any more.
    func withdraw() {
        source?.invalidate()
        source = nil
    }
}
