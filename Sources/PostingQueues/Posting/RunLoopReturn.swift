internal import Foundation
internal import ThreadedNotifications

/// Makes a run of `RunLoop.run(mode:before:)` return, by a signalled source in the run loop's current mode.
///
/// The run loop handles the source after all others. The source keeps no run loop from returning for lack of sources,
/// and makes no other run return.
/// Threads: used on the run loop's thread only. The type is not Sendable.
final class RunLoopReturn {
    private var source: RunLoopSource?
    private let handled: @Sendable () -> Void

    /// - Parameter handled: called on the run loop's thread when the source was handled. It has to call `withdraw()`.
    init(handled: @escaping @Sendable () -> Void) {
        self.handled = handled
    }

    var isSignalled: Bool { source != nil }

    func signal() {
        guard source == nil, let mode = RunLoop.current.currentMode else { return }
        let source = RunLoopSource(isLast: true, perform: handled)
        self.source = source
        source.add(to: .current, mode: mode)
        source.signal()
    }

    /// Removes the source, so that it makes no run return.
    func withdraw() {
        source?.invalidate()
        source = nil
    }
}
