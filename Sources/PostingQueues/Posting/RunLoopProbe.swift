internal import Foundation
internal import ThreadedNotifications

/// Finds out whether a run loop has nothing else to do: a version-1 source on a descriptor that is ready.
///
/// A run loop handles descriptors in the order in which they became ready, and the probe's becomes ready when the probe
/// is armed. So if the probe wakes the run loop, no other descriptor and no timer was ready. The probe does not detect
/// work of the main queue, which comes after it.
/// Threads: used on the run loop's thread only. The type is not Sendable.
final class RunLoopProbe {
    private let descriptor: EventDescriptor
    private let source: RunLoopSource
    private var mode: RunLoop.Mode?

    /// - Parameter woke: called when the probe woke the run loop.
    /// - Returns: nil if the system has no descriptor left.
    init?(woke: @escaping @Sendable () -> Void) {
        guard let descriptor = EventDescriptor() else { return nil }
        self.descriptor = descriptor
        source = RunLoopSource(descriptor, perform: woke)
    }

    /// Lets the probe wake the calling thread's run loop, in its current mode.
    func arm() {
        guard let mode = RunLoop.current.currentMode else { return }
        disarm()
        self.mode = mode
        // Made ready before it is added, so that adding it puts it behind all descriptors that are ready.
        descriptor.makeReady()
        source.add(to: .current, mode: mode)
    }

    /// - Returns: whether it was armed.
    @discardableResult
    func disarm() -> Bool {
        guard let mode else { return false }
        source.remove(from: .current, mode: mode)
        self.mode = nil
        return true
    }
}
