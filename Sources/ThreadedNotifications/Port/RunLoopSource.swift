internal import CoreFoundation
package import Foundation

/// A version-0 source of a run loop: other threads signal it, and the run loop calls it.
///
/// Signals are kept until the run loop runs in a mode of the source. Several signals before that result in one call.
/// Threads: every member may be used on any thread; `isDeliverableNow` is about the calling thread.
package final class RunLoopSource: Sendable {
    private let source: LockedObject<CFRunLoopSource>

    /// - Parameters:
    ///   - order: the run loop calls signalled sources in ascending order.
    ///   - perform: called on the run loop's thread after a signal.
    ///   - cancelled: called when the source is removed from a mode of a run loop, also because the thread ends.
    package init(
        order: Int = 0, perform: @escaping @Sendable () -> Void,
        cancelled: @escaping @Sendable () -> Void = {}
    ) {
        source = LockedObject(Callbacks(perform: perform, cancelled: cancelled).makeSource(order: order))
    }

    deinit {
        invalidate()
    }

    package func signal() {
        ForkedCopy.wake { CFRunLoopSourceSignal(source.object) }
    }

    package func invalidate() {
        CFRunLoopSourceInvalidate(source.object)
    }

    package func add(to runLoop: RunLoopReference, mode: RunLoop.Mode) {
        CFRunLoopAddSource(runLoop.runLoop.object, source.object, mode.coreFoundationMode)
    }

    package func remove(from runLoop: RunLoopReference, mode: RunLoop.Mode) {
        CFRunLoopRemoveSource(runLoop.runLoop.object, source.object, mode.coreFoundationMode)
    }

    /// True if the calling thread's run loop serves the source in its current mode. A run loop that is not running
    /// counts as running in the default mode. CoreFoundation is asked because only it knows which modes are common.
    package var isDeliverableNow: Bool {
        let runLoop = CFRunLoopGetCurrent()
        let mode = CFRunLoopCopyCurrentMode(runLoop) ?? kCFRunLoopDefaultMode
        return CFRunLoopContainsSource(runLoop, source.object, mode)
    }

    /// The callbacks of a source. The source retains them.
    private final class Callbacks {
        private let perform: @Sendable () -> Void
        private let cancelled: @Sendable () -> Void

        init(perform: @escaping @Sendable () -> Void, cancelled: @escaping @Sendable () -> Void) {
            self.perform = perform
            self.cancelled = cancelled
        }

        func makeSource(order: CFIndex) -> CFRunLoopSource {
            var context = CFRunLoopSourceContext(
                version: 0,
                info: Unmanaged.passUnretained(self).toOpaque(),
                retain: { UnsafeRawPointer(Unmanaged<Callbacks>.fromOpaque($0!).retain().toOpaque()) },
                release: { Unmanaged<Callbacks>.fromOpaque($0!).release() },
                copyDescription: nil,
                equal: nil,
                hash: nil,
                schedule: nil,
                cancel: { info, _, _ in
                    if let info { Unmanaged<Callbacks>.fromOpaque(info).takeUnretainedValue().cancelled() }
                },
                perform: { info in
                    if let info { Unmanaged<Callbacks>.fromOpaque(info).takeUnretainedValue().perform() }
                }
            )
            return CFRunLoopSourceCreate(nil, order, &context)
        }
    }
}
