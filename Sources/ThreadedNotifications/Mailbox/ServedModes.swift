internal import CoreFoundation

/// The mode queues that a thread's run loop serves in its current mode, as far as CoreFoundation was asked.
///
/// A queue that is served in a mode stays served while the run loop exists. One that is not served may become so.
struct ServedModes {
    /// The thread's run loop, which is looked up once.
    private var runLoop: CFRunLoop?
    /// `runLoop` again, to use it without counting a reference.
    private var uncountedRunLoop: Unmanaged<CFRunLoop>?
    private var mode: RunningMode?
    /// A bit for each of the first 64 queues.
    private var queues: UInt64 = 0

    /// - Parameter ask: asks CoreFoundation whether the run loop serves the queue.
    @inline(__always)
    mutating func contains(_ queue: Int, ask: () -> Bool) -> Bool {
        let current = RunningMode(of: uncountedRunLoop ?? lookUpRunLoop())
        if let mode, mode.isSame(as: current) {
            if queue < 64, queues & (1 << queue) != 0 { return true }
        } else {
            mode = current
            queues = 0
        }
        guard ask() else { return false }
        if queue < 64 { queues |= 1 << queue }
        return true
    }

    @inline(never)
    private mutating func lookUpRunLoop() -> Unmanaged<CFRunLoop> {
        let current: CFRunLoop = CFRunLoopGetCurrent()
        let uncounted = Unmanaged.passUnretained(current)
        (runLoop, uncountedRunLoop) = (current, uncounted)
        return uncounted
    }
}
