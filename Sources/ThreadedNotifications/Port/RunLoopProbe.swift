internal import CoreFoundation

/// Finds out whether a run loop has nothing else to do: a version-1 source on a descriptor that is ready.
///
/// A run loop handles descriptors in the order in which they became ready, and the probe's becomes ready when the probe
/// is armed. So if the probe wakes the run loop, no other descriptor and no timer was ready. The probe does not detect
/// work of the main queue, which comes after it.
/// Threads: used on the run loop's thread only. The type is not Sendable.
final class RunLoopProbe {
    private let descriptor: EventDescriptor
    private let source: CFRunLoopSource
    private var mode: CFString?

    /// - Parameter woke: called when the probe woke the run loop.
    /// - Returns: nil if the system has no descriptor left.
    init?(woke: @escaping () -> Void) {
        guard let descriptor = EventDescriptor() else { return nil }
        self.descriptor = descriptor
        source = Callbacks(descriptor: descriptor, woke: woke).makeSource()
    }

    deinit {
        CFRunLoopSourceInvalidate(source)
    }

    /// Lets the probe wake the calling thread's run loop, in its current mode.
    func arm() {
        guard let mode = CFRunLoopCopyCurrentMode(CFRunLoopGetCurrent()) else { return }
        disarm()
        self.mode = mode
        // Made ready before it is added, so that adding it puts it behind all descriptors that are ready.
        descriptor.makeReady()
        CFRunLoopAddSource(CFRunLoopGetCurrent(), source, mode)
    }

    /// - Returns: whether it was armed.
    @discardableResult
    func disarm() -> Bool {
        guard let mode else { return false }
        CFRunLoopRemoveSource(CFRunLoopGetCurrent(), source, mode)
        self.mode = nil
        return true
    }

    /// The callbacks of a source. The source retains them.
    private final class Callbacks {
        private let descriptor: EventDescriptor
        private let woke: () -> Void

        init(descriptor: EventDescriptor, woke: @escaping () -> Void) {
            self.descriptor = descriptor
            self.woke = woke
        }

        func makeSource() -> CFRunLoopSource {
            var context = CFRunLoopSourceContext1(
                version: 1,
                info: Unmanaged.passUnretained(self).toOpaque(),
                retain: { UnsafeRawPointer(Unmanaged<Callbacks>.fromOpaque($0!).retain().toOpaque()) },
                release: { Unmanaged<Callbacks>.fromOpaque($0!).release() },
                copyDescription: nil,
                equal: nil,
                hash: nil,
                getPort: { info in
                    Unmanaged<Callbacks>.fromOpaque(info!).takeUnretainedValue().descriptor.number
                },
                perform: { info in
                    if let info { Unmanaged<Callbacks>.fromOpaque(info).takeUnretainedValue().woke() }
                }
            )
            return withUnsafeMutableBytes(of: &context) { context in
                CFRunLoopSourceCreate(
                    nil, 0, context.baseAddress!.assumingMemoryBound(to: CFRunLoopSourceContext.self))
            }
        }
    }
}
