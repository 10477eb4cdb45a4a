internal import CoreFoundation
package import Foundation

// The one file that imports CoreFoundation: sources, observers and probes of a run loop, and the reference by which it is woken.

/// A version-0 source: what a thread is signalled by, on its run loop.
///
/// Threads: everything may be called on any thread but `isDeliverableNow`.
/// A signal is held while the run loop does not run in a mode of the source, and any number of them are one.
//
// Safety: `source` is set once, and CFRunLoopSource locks itself.
final class RunLoopSource: @unchecked Sendable {
    private let source: CFRunLoopSource

    /// - Parameters:
    ///   - isLast: whether it is handled after all others that are signalled.
    ///   - perform: called on the run loop's thread after a signal.
    ///   - cancelled: called when the source was taken off a mode of a run loop, also because its thread ends.
    init(
        isLast: Bool = false, perform: @escaping @Sendable () -> Void,
        cancelled: @escaping @Sendable () -> Void = {}
    ) {
        source = Callbacks(perform: perform, cancelled: cancelled).makeSource(order: isLast ? .max : 0)
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

/// Told what a run loop does, after all other observers of the same.
///
/// It is not told while it is being told: what runs the run loop in it needs another.
/// Threads: `perform` is called on the run loop's thread; everything else may be called on any.
//
// Safety: `observer` is set once, and CFRunLoopObserver locks itself.
final class RunLoopObserver: @unchecked Sendable {
    /// What the run loop is about to do, or has done.
    enum Activity {
        /// It is entered.
        case entry
        /// It begins a pass.
        case beforeTimers
        /// It will wait, if nothing is ready.
        case beforeWaiting
        /// It is left.
        case exit
    }

    private let observer: CFRunLoopObserver

    /// - Parameter perform: called when the run loop does something; nil: never. Then it only marks modes.
    init(perform: (@Sendable (Activity) -> Void)?) {
        observer = Callback(perform: perform ?? { _ in })
            .makeObserver(perform == nil ? [] : [.entry, .beforeTimers, .beforeWaiting, .exit])
    }

    deinit {
        CFRunLoopObserverInvalidate(observer)
    }

    /// Whether the current thread's run loop runs in a mode that the observer was added for. A thread that runs no run loop
    /// counts as in the default mode.
    var isInCurrentMode: Bool {
        let runLoop = CFRunLoopGetCurrent()
        return CFRunLoopContainsObserver(runLoop, observer, CFRunLoopCopyCurrentMode(runLoop) ?? kCFRunLoopDefaultMode)
    }

    func invalidate() {
        CFRunLoopObserverInvalidate(observer)
    }

    func add(to runLoop: RunLoopReference, mode: RunLoop.Mode) {
        CFRunLoopAddObserver(runLoop.runLoop, observer, mode.coreFoundationMode)
    }

    /// Whether this run loop is being run in a mode that the observer was added for. On any thread.
    func isInRun(of runLoop: RunLoopReference) -> Bool {
        guard let mode = CFRunLoopCopyCurrentMode(runLoop.runLoop) else { return false }
        return CFRunLoopContainsObserver(runLoop.runLoop, observer, mode)
    }

    /// What the observer points to, and owns.
    private final class Callback {
        private let perform: @Sendable (Activity) -> Void

        init(perform: @escaping @Sendable (Activity) -> Void) {
            self.perform = perform
        }

        func makeObserver(_ activities: CFRunLoopActivity) -> CFRunLoopObserver {
            var context = CFRunLoopObserverContext(
                version: 0,
                info: Unmanaged.passUnretained(self).toOpaque(),
                retain: { UnsafeRawPointer(Unmanaged<Callback>.fromOpaque($0!).retain().toOpaque()) },
                release: { Unmanaged<Callback>.fromOpaque($0!).release() },
                copyDescription: nil
            )
            return CFRunLoopObserverCreate(
                nil, activities.rawValue, true, .max,
                { _, activity, info in
                    guard let info, let activity = Activity(activity) else { return }
                    Unmanaged<Callback>.fromOpaque(info).takeUnretainedValue().perform(activity)
                }, &context)
        }
    }
}

extension RunLoopObserver.Activity {
    fileprivate init?(_ activity: CFRunLoopActivity) {
        switch activity {
        case .entry: self = .entry
        case .beforeTimers: self = .beforeTimers
        case .beforeWaiting: self = .beforeWaiting
        case .exit: self = .exit
        default: return nil
        }
    }
}

/// What wakes a waiting run loop once, if nothing else does: a version-1 source on a descriptor that is ready.
///
/// A run loop handles what became ready first, and the probe becomes ready when it is armed; so when it is what wakes
/// the run loop, nothing was ready then. The main queue joins after the probe, and is not known by it.
/// Threads: everything is called on the run loop's thread.
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

    /// Has it wake the current run loop, in the mode that it runs in.
    func arm() {
        guard let mode = CFRunLoopCopyCurrentMode(CFRunLoopGetCurrent()) else { return }
        disarm()
        self.mode = mode
        // Ready before it is added: so its place behind what is ready is that of the adding.
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

    /// What the source points to, and owns.
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

/// A run loop that is retained, so that waking it is harmless after its thread has ended.
//
// Safety: of CFRunLoop only what CoreFoundation documents as safe on any thread is used: waking it, comparing it, and
// adding and removing sources and observers.
package struct RunLoopReference: @unchecked Sendable {
    fileprivate let runLoop: CFRunLoop

    /// The current thread's; made if it has none yet.
    package static var current: RunLoopReference { RunLoopReference(runLoop: CFRunLoopGetCurrent()) }

    /// The main thread's.
    static var main: RunLoopReference { RunLoopReference(runLoop: CFRunLoopGetMain()) }

    package func wakeUp() {
        CFRunLoopWakeUp(runLoop)
    }

    func isSame(as other: RunLoopReference) -> Bool {
        runLoop === other.runLoop
    }
}

/// The mode that the current thread's run loop runs in, if it does: cheaper to compare than a `RunLoop.Mode`.
struct RunningMode: Equatable {
    private let mode: CFString?

    static var current: RunningMode { RunningMode(mode: CFRunLoopCopyCurrentMode(CFRunLoopGetCurrent())) }

    /// Whether it is the same without doubt.
    @inline(__always)
    func isSame(as other: RunningMode) -> Bool { mode === other.mode }

    static func == (one: RunningMode, other: RunningMode) -> Bool {
        if let one = one.mode, let other = other.mode { return one === other || CFEqual(one, other) }
        return one.mode == nil && other.mode == nil
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

    /// Makes a mode one of the common modes of the current thread's run loop, and for good: nothing takes one out again.
    package static func addCommonModeToCurrent(_ mode: RunLoop.Mode) {
        CFRunLoopAddCommonMode(CFRunLoopGetCurrent(), mode.coreFoundationMode)
    }
}
