package import CoreFoundation
package import Foundation

/// A retained run loop that any thread may wake, also after the run loop's thread has ended.
package struct RunLoopReference: Sendable {
    package let runLoop: LockedObject<CFRunLoop>

    /// The calling thread's run loop.
    package static var current: RunLoopReference {
        RunLoopReference(runLoop: LockedObject(CFRunLoopGetCurrent()))
    }

    /// The main thread's run loop.
    static var main: RunLoopReference {
        RunLoopReference(runLoop: LockedObject(CFRunLoopGetMain()))
    }

    package func wakeUp() {
        ForkedCopy.wake { CFRunLoopWakeUp(runLoop.object) }
    }

    /// Performs a block on the run loop's thread, in a common mode. Unlike a source, it does not keep the run loop
    /// running.
    package func perform(_ block: @escaping @Sendable () -> Void) {
        CFRunLoopPerformBlock(runLoop.object, RunLoop.Mode.common.coreFoundationMode, block)
        wakeUp()
    }

    func isSame(as other: RunLoopReference) -> Bool {
        runLoop.object === other.runLoop.object
    }
}

extension RunLoop {
    /// Makes one pass through the calling thread's run loop in the default mode, without waiting: each signalled source
    /// is called once. `RunLoop.run(mode:before:)` returns after the first one.
    package static func runCurrentOnce() {
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, 0, false)
    }

    /// Runs the calling thread's run loop in the default mode until it has handled a source, or for a number of
    /// seconds. `run(mode:before:)` does the same and is slower.
    /// - Returns: whether it has handled a source.
    @discardableResult
    package static func runCurrentUntilSourceHandled(for seconds: Double? = nil) -> Bool {
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, seconds ?? forever, true) == .handledSource
    }

    /// In seconds. CoreFoundation sets no timer for more than 16 years.
    private static let forever = 1e10

    /// Runs the calling thread's run loop in the default mode until `stopCurrent()`, or for a number of seconds.
    package static func runCurrent(for seconds: Double?) {
        CFRunLoopRunInMode(kCFRunLoopDefaultMode, seconds ?? forever, false)
    }

    /// Ends the innermost run of the calling thread's run loop.
    package static func stopCurrent() {
        CFRunLoopStop(CFRunLoopGetCurrent())
    }

    /// Makes a mode one of the common modes of the calling thread's run loop. This cannot be undone.
    package static func addCommonModeToCurrent(_ mode: RunLoop.Mode) {
        CFRunLoopAddCommonMode(CFRunLoopGetCurrent(), mode.coreFoundationMode)
    }
}
