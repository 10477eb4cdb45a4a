internal import Foundation

/// Has a run of the run loop return, if it returns after a source: a source of the mode that the run loop runs in, which is signalled, and
/// goes when it was handled.
///
/// It is handled after all others, so that it takes no other's turn. It keeps no run loop from returning for want of sources, and
/// makes no other run return.
/// Threads: everything is called on the run loop's thread.
//
// Safety: used on one thread only; it is Sendable for the source to call it there.
final class RunLoopReturn: @unchecked Sendable {
    private var source: RunLoopSource?

    var isSignalled: Bool { source != nil }

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
