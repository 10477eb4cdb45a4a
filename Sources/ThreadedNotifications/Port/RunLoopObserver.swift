internal import CoreFoundation
package import Foundation

/// An observer of a run loop's activities, called after the observers of the same activity that other code has added.
///
/// CoreFoundation does not call an observer again before it has returned. Code that runs the run loop inside an
/// observer needs another observer for the nested run.
/// Threads: `perform` is called on the run loop's thread. Every member may be used on any thread; `isInCurrentMode` is
/// about the calling thread.
package final class RunLoopObserver: Sendable {
    /// An activity of a run loop.
    package enum Activity: CaseIterable {
        /// A run begins.
        case entry
        /// A pass begins.
        case beforeTimers
        /// The run loop is about to wait. It does not wait if something is ready.
        case beforeWaiting
        /// A run ends.
        case exit
    }

    private let observer: LockedObject<CFRunLoopObserver>

    /// - Parameters:
    ///   - activities: those it is called for. An observer without activities only marks the modes that it is added to.
    ///   - isLast: whether it is called after those of this package too.
    package init(
        of activities: [Activity] = Activity.allCases, isLast: Bool = false,
        perform: @escaping @Sendable (Activity) -> Void
    ) {
        observer = LockedObject(
            Callback(perform: perform)
                .makeObserver(
                    activities.reduce(into: []) { $0.formUnion($1.coreFoundationActivity) },
                    order: isLast ? .max : .max - 1))
    }

    deinit {
        invalidate()
    }

    /// True if the observer was added to the current mode of the calling thread's run loop. A run loop that is not
    /// running counts as running in the default mode.
    package var isInCurrentMode: Bool {
        let runLoop = CFRunLoopGetCurrent()
        let mode = CFRunLoopCopyCurrentMode(runLoop) ?? kCFRunLoopDefaultMode
        return CFRunLoopContainsObserver(runLoop, observer.object, mode)
    }

    package func invalidate() {
        CFRunLoopObserverInvalidate(observer.object)
    }

    package func add(to runLoop: RunLoopReference, mode: RunLoop.Mode) {
        CFRunLoopAddObserver(runLoop.runLoop.object, observer.object, mode.coreFoundationMode)
    }

    /// True if a run loop runs at the moment in a mode that the observer was added to.
    package func isInRun(of runLoop: RunLoopReference) -> Bool {
        guard let mode = CFRunLoopCopyCurrentMode(runLoop.runLoop.object) else { return false }
        return CFRunLoopContainsObserver(runLoop.runLoop.object, observer.object, mode)
    }

    /// The callback of an observer. The observer retains it.
    private final class Callback {
        private let perform: @Sendable (Activity) -> Void

        init(perform: @escaping @Sendable (Activity) -> Void) {
            self.perform = perform
        }

        func makeObserver(_ activities: CFRunLoopActivity, order: CFIndex) -> CFRunLoopObserver {
            var context = CFRunLoopObserverContext(
                version: 0,
                info: Unmanaged.passUnretained(self).toOpaque(),
                retain: { UnsafeRawPointer(Unmanaged<Callback>.fromOpaque($0!).retain().toOpaque()) },
                release: { Unmanaged<Callback>.fromOpaque($0!).release() },
                copyDescription: nil
            )
            return CFRunLoopObserverCreate(
                nil, activities.rawValue, true, order,
                { _, activity, info in
                    guard let info, let activity = Activity(activity) else { return }
                    Unmanaged<Callback>.fromOpaque(info).takeUnretainedValue().perform(activity)
                }, &context)
        }
    }
}

extension RunLoopObserver.Activity {
    fileprivate var coreFoundationActivity: CFRunLoopActivity {
        switch self {
        case .entry: .entry
        case .beforeTimers: .beforeTimers
        case .beforeWaiting: .beforeWaiting
        case .exit: .exit
        }
    }

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
