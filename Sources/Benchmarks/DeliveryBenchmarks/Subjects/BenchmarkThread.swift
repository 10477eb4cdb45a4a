internal import CoreFoundation
internal import Foundation
internal import ThreadedNotifications

/// A thread that runs its run loop, on the core of target threads.
final class BenchmarkThread: Sendable {
    let thread: RunLoopThread

    init(_ name: String = "target", core: Int?) throws {
        thread = RunLoopThread(name: name)
        try thread.start()
        guard let core else { return }
        do {
            try thread.performAndWait(timeout: .seconds(10)) { try ProcessorCores.pinCurrentThread(to: [core]) }
        } catch {
            thread.stop()
            throw error
        }
    }

    func end() throws {
        thread.stop()
        try thread.waitUntilFinished(timeout: .seconds(10))
    }
}

/// A thread whose run loop other threads use as Foundation intends: `RunLoop.perform`, then a wake-up, which Foundation
/// leaves to the caller.
///
/// Safety: both run loops are set once. Other threads only call `perform` and `CFRunLoopWakeUp`, which Foundation
/// documents as safe.
final class WokenRunLoop: @unchecked Sendable {
    private let thread: BenchmarkThread
    private let runLoop: RunLoop
    private let woken: CFRunLoop

    init(core: Int?) throws {
        let thread = try BenchmarkThread(core: core)
        let found = try thread.thread.performAndWait(timeout: .seconds(10)) {
            Found(runLoop: RunLoop.current, woken: CFRunLoopGetCurrent())
        }
        self.thread = thread
        runLoop = found.runLoop
        woken = found.woken
    }

    func perform(_ block: @escaping @Sendable () -> Void) {
        runLoop.perform(block)
        CFRunLoopWakeUp(woken)
    }

    func end() throws {
        try thread.end()
    }

    // Safety: one thread creates it and hands it to the thread that waits for it; no other thread has it.
    private struct Found: @unchecked Sendable {
        let runLoop: RunLoop
        let woken: CFRunLoop
    }
}
