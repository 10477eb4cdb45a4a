internal import CoreFoundation
internal import Foundation
internal import ThreadedNotifications

extension RunLoopThread {
    /// A thread that runs.
    static func started(_ name: String = "target") throws -> RunLoopThread {
        let thread = RunLoopThread(name: name)
        try thread.start()
        return thread
    }

    func end() throws {
        stop()
        try waitUntilFinished(timeout: .seconds(10))
    }
}

/// The run loop of a thread, used by others as Foundation intends: `RunLoop.perform`, then a wake-up, which Foundation
/// leaves to the caller.
///
/// Safety: other threads only call `perform` and `CFRunLoopWakeUp`, which Foundation documents as safe.
struct WokenRunLoop: @unchecked Sendable {
    private let runLoop: RunLoop
    private let woken: CFRunLoop

    init(of thread: RunLoopThread) throws {
        self = try thread.performAndWait(timeout: .seconds(10)) {
            WokenRunLoop(runLoop: RunLoop.current, woken: CFRunLoopGetCurrent())
        }
    }

    private init(runLoop: RunLoop, woken: CFRunLoop) {
        (self.runLoop, self.woken) = (runLoop, woken)
    }

    func perform(_ block: @escaping @Sendable () -> Void) {
        runLoop.perform(block)
        CFRunLoopWakeUp(woken)
    }
}
