internal import Foundation
internal import ThreadedNotifications

/// A thread that runs its run loop, on the core that targets have.
final class BenchmarkThread: Sendable {
    let thread: RunLoopThread

    init(_ name: String = "target", core: Int?) throws {
        thread = RunLoopThread(name: name)
        try thread.start()
        guard let core else { return }
        do {
            try thread.perform(waitUntilDone: .seconds(10)) { try ProcessorCores.pinCurrentThread(to: [core]) }
        } catch {
            thread.stop()
            throw error
        }
    }

    func end() throws {
        thread.stop()
        try thread.waitUntilFinished(limit: .seconds(10))
    }
}

/// A thread whose run loop others use as Foundation has it: `RunLoop.perform`, and a wake, which Foundation leaves to them.
//
// Safety: `runLoop` is set once. Of it other threads use `perform`, which Foundation documents as safe, and the port is made
// for other threads.
final class WokenRunLoop: @unchecked Sendable {
    private let thread: BenchmarkThread
    private let runLoop: RunLoop
    /// Wakes the run loop; its messages are handled by nobody. CoreFoundation's own wake, which is not public on Linux, costs
    /// some 1000 ns less in a burst: what this contender costs is what it costs with a public one.
    private let port: SignalPort

    init(core: Int?) throws {
        let thread = try BenchmarkThread(core: core)
        let found = try thread.thread.perform(waitUntilDone: .seconds(10)) {
            let port = SignalPort()
            RunLoop.current.add(port, forMode: .common)
            return Found(runLoop: RunLoop.current, port: port)
        }
        self.thread = thread
        runLoop = found.runLoop
        port = found.port
    }

    func perform(_ block: @escaping @Sendable () -> Void) {
        runLoop.perform(block)
        _ = port.send(before: Date.distantFuture, components: nil, from: nil, reserved: 0)
    }

    func end() throws {
        port.invalidate()
        try thread.end()
    }

    // Safety: handed from the thread that made it to the one that waits for it, and by no other means.
    private struct Found: @unchecked Sendable {
        let runLoop: RunLoop
        let port: SignalPort
    }
}
