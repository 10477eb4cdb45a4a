internal import CoreFoundation
internal import Foundation

/// A version-0 source: what a thread is signalled by, on its run loop.
///
/// The one file that imports CoreFoundation. Threads: everything may be called on any thread but `isDeliverableNow`.
/// A signal is held while the run loop does not run in a mode of the source, and any number of them are one.
//
// Safety: `source` is set once, and CFRunLoopSource locks itself.
final class RunLoopSource: @unchecked Sendable {
    private let source: CFRunLoopSource

    /// - Parameters:
    ///   - perform: called on the run loop's thread after a signal.
    ///   - cancelled: called when the source was taken off a mode of a run loop, also because its thread ends.
    init(perform: @escaping @Sendable () -> Void, cancelled: @escaping @Sendable () -> Void = {}) {
        source = Callbacks(perform: perform, cancelled: cancelled).makeSource()
    }

    deinit {
        CFRunLoopSourceInvalidate(source)
    }

    func signal() {
        CFRunLoopSourceSignal(source)
    }

    func invalidate() {
        CFRunLoopSourceInvalidate(source)
    }

    func add(to runLoop: RunLoopReference, mode: RunLoop.Mode) {
        CFRunLoopAddSource(runLoop.runLoop, source, mode.coreFoundationMode)
    }

    func remove(from runLoop: RunLoopReference, mode: RunLoop.Mode) {
        CFRunLoopRemoveSource(runLoop.runLoop, source, mode.coreFoundationMode)
    }

    /// Whether the current thread's run loop serves the source in the mode that it runs in. A thread that runs no run
    /// loop counts as in the default mode. Which modes are common only CoreFoundation knows.
    var isDeliverableNow: Bool {
        let runLoop = CFRunLoopGetCurrent()
        return CFRunLoopContainsSource(runLoop, source, CFRunLoopCopyCurrentMode(runLoop) ?? kCFRunLoopDefaultMode)
    }

    /// What the source points to, and owns.
    private final class Callbacks {
        private let perform: @Sendable () -> Void
        private let cancelled: @Sendable () -> Void

        init(perform: @escaping @Sendable () -> Void, cancelled: @escaping @Sendable () -> Void) {
            self.perform = perform
            self.cancelled = cancelled
        }

        func makeSource() -> CFRunLoopSource {
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
            return CFRunLoopSourceCreate(nil, 0, &context)
        }
    }
}

/// A run loop that is retained, so that waking it is harmless after its thread has ended.
//
// Safety: of CFRunLoop only what CoreFoundation documents as safe on any thread is used: waking it, comparing it, and
// adding and removing sources.
struct RunLoopReference: @unchecked Sendable {
    fileprivate let runLoop: CFRunLoop

    /// The current thread's; made if it has none yet.
    static var current: RunLoopReference { RunLoopReference(runLoop: CFRunLoopGetCurrent()) }

    /// The main thread's.
    static var main: RunLoopReference { RunLoopReference(runLoop: CFRunLoopGetMain()) }

    func wakeUp() {
        CFRunLoopWakeUp(runLoop)
    }

    func isSame(as other: RunLoopReference) -> Bool {
        runLoop === other.runLoop
    }
}

extension RunLoop.Mode {
    fileprivate var coreFoundationMode: CFString {
        // CoreFoundation knows the common modes by the address of their name.
        self == .common
            ? kCFRunLoopCommonModes : CFStringCreateWithCString(nil, rawValue, CFStringBuiltInEncodings.UTF8.rawValue)
    }
}

extension RunLoop {
    /// Makes one pass through the current thread's run loop in the default mode, without waiting: each source that is
    /// signalled is handled once. `RunLoop.run(mode:before:)` handles the one that was signalled first, and returns.
    package static func runCurrentOnce() {
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false)
    }
}
