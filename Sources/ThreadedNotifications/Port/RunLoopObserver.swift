package import CoreFoundation
package import Foundation

/// An observer of a run loop's activities, called after the observers of the same activity that other code has added.
///
/// CoreFoundation does not call an observer again before it has returned. Code that runs the run loop inside an
/// observer needs another observer for the nested run.
/// Threads: any. `perform` is called on the run loop's thread.
package final class RunLoopObserver: Sendable {
    private let observer: LockedObject<CFRunLoopObserver>

    /// - Parameters:
    ///   - activities: those it is called for. An observer without activities only marks the modes that it is added to.
    ///   - isLast: whether it is called after those of this package too.
    package init(
        of activities: CFRunLoopActivity = [.entry, .beforeTimers, .beforeWaiting, .exit], isLast: Bool = false,
        perform: @escaping @Sendable (CFRunLoopActivity) -> Void
    ) {
        observer = LockedObject(
            CFRunLoopObserverCreateWithHandler(nil, activities.rawValue, true, isLast ? .max : .max - 1) {
                perform($1)
            }!)
    }

    deinit { invalidate() }

    /// True if the observer was added to the current mode of the calling thread's run loop. A run loop that is not
    /// running counts as running in the default mode.
    package var isInCurrentMode: Bool {
        let runLoop = CFRunLoopGetCurrent()
        let mode = CFRunLoopCopyCurrentMode(runLoop) ?? kCFRunLoopDefaultMode
        return CFRunLoopContainsObserver(runLoop, observer.object, mode)
    }

    package func invalidate() { CFRunLoopObserverInvalidate(observer.object) }

    package func add(to runLoop: RunLoopReference, mode: RunLoop.Mode) {
        CFRunLoopAddObserver(runLoop.runLoop.object, observer.object, mode.coreFoundationMode)
    }
}
