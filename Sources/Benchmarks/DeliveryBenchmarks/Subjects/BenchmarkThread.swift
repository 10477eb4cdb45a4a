internal import Foundation
internal import ThreadedNotifications

/// A thread that runs its run loop, on the core that targets have.
final class BenchmarkThread: Sendable {
    let thread: RunLoopThread

    init(_ name: String = "target", core: Int?, spins: Bool = false) throws {
        thread = RunLoopThread(name: name, spins: spins)
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

/// A thread whose run loop others use as Foundation has it: `RunLoop.perform`, and a wake, which Foundation leaves to
/// them.
//
// Safety: `runLoop` is set once. Of it other threads use `perform`, which Foundation documents as safe.
final class WokenRunLoop: @unchecked Sendable {
    private let thread: BenchmarkThread
    private let runLoop: RunLoop
    private let reference: RunLoopReference

    init(core: Int?) throws {
        let thread = try BenchmarkThread(core: core)
        let found = try thread.thread.performAndWait(timeout: .seconds(10)) {
            Found(runLoop: RunLoop.current, reference: .current)
        }
        self.thread = thread
        runLoop = found.runLoop
        reference = found.reference
    }

    func perform(_ block: @escaping @Sendable () -> Void) {
        runLoop.perform(block)
        reference.wakeUp()
    }

    func end() throws {
        try thread.end()
    }

    // Safety: handed from the thread that made it to the one that waits for it, and by no other means.
    private struct Found: @unchecked Sendable {
        let runLoop: RunLoop
        let reference: RunLoopReference
    }
}
