package import CoreFoundation
package import Foundation

/// A retained run loop that any thread may wake, also after the run loop's thread has ended.
package struct RunLoopReference: Sendable {
    package let runLoop: LockedObject<CFRunLoop>

    /// The calling thread's run loop.
    package static var current: RunLoopReference { RunLoopReference(runLoop: LockedObject(CFRunLoopGetCurrent())) }

    /// The main thread's run loop.
    static var main: RunLoopReference { RunLoopReference(runLoop: LockedObject(CFRunLoopGetMain())) }

    package func wakeUp() { CFRunLoopWakeUp(runLoop.object) }

    /// Performs a block on the run loop's thread, in a common mode. Unlike a source, it does not keep the run loop
    /// running.
    package func perform(_ block: @escaping @Sendable () -> Void) {
        CFRunLoopPerformBlock(runLoop.object, RunLoop.Mode.common.coreFoundationMode, block)
        wakeUp()
    }

    func isSame(as other: RunLoopReference) -> Bool { runLoop.object === other.runLoop.object }
}

/// A CoreFoundation object that any thread may use, because CoreFoundation locks it: a run loop, a source or an
/// observer.
//
// Safety: the initializers accept these three types only. CoreFoundation documents that a run loop may be woken, and
// sources and observers added, removed, signalled and invalidated, on any thread; each takes a lock of the object for
// that.
package struct LockedObject<Object: AnyObject>: @unchecked Sendable {
    package let object: Object

    package init(_ runLoop: CFRunLoop) where Object == CFRunLoop { object = runLoop }
    package init(_ source: CFRunLoopSource) where Object == CFRunLoopSource { object = source }
    package init(_ observer: CFRunLoopObserver) where Object == CFRunLoopObserver { object = observer }
}

/// The current mode of the calling thread's run loop, if it runs.
package struct RunningMode: Equatable {
    private let mode: CFString?

    package static var current: RunningMode { RunningMode(mode: CFRunLoopCopyCurrentMode(CFRunLoopGetCurrent())) }

    /// True if the run loop does not run.
    package var isNone: Bool { mode == nil }

    package static func == (one: RunningMode, other: RunningMode) -> Bool {
        if let one = one.mode, let other = other.mode { return CFEqual(one, other) }
        return one.isNone && other.isNone
    }
}

extension RunLoop.Mode {
    var coreFoundationMode: CFString {
        // CoreFoundation recognises the common modes by the address of their name.
        self == .common
            ? kCFRunLoopCommonModes : CFStringCreateWithCString(nil, rawValue, CFStringBuiltInEncodings.UTF8.rawValue)
    }
}

// Each of these is about the calling thread's run loop.
extension RunLoop {
    /// In seconds. CoreFoundation sets no timer for more than 16 years.
    private static let forever = 1e10

    /// Runs in the default mode until `stopCurrent()`, until a source was handled, or for a number of seconds. In 0
    /// seconds it makes one pass, which calls each signalled source once. `run(mode:before:)` is slower, and always
    /// returns after the first source.
    /// - Returns: whether it returned because a source was handled.
    @discardableResult
    package static func runCurrent(for seconds: Double? = nil, untilSourceHandled: Bool = false) -> Bool {
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, seconds ?? forever, untilSourceHandled) == .handledSource
    }

    /// Ends the innermost run.
    package static func stopCurrent() { CFRunLoopStop(CFRunLoopGetCurrent()) }
}
