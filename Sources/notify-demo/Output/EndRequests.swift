import Foundation
import ThreadedNotifications

/// Requests to end this process, such as Ctrl-C and SIGTERM, while it waits for something.
enum EndRequests {
    /// Does work on a thread of its own while the main thread takes requests. A request that this process ignores, such
    /// as SIGINT in a script's background command, stays ignored.
    ///
    /// - Parameters:
    ///   - maximum: later requests have their effect.
    ///   - handle: called with each request, in place of its effect.
    ///   - work: called when requests are taken.
    /// - Returns: the result of the work.
    static func taking<Value: Sendable>(
        _ signals: [Int32], atMost maximum: Int = .max, _ handle: (Int32) -> Void,
        during work: @escaping @Sendable () throws -> Value
    ) throws -> Value {
        let result = Locked<Result<Value, any Error>?>(nil)
        // Not with this package, whose deliveries would be recorded if another command records this one.
        DispatchQueue.main.async {
            Thread.detachNewThread {
                let value = Result { try work() }
                result.withLock { $0 = value }
                // The main thread stops waiting.
                DispatchQueue.main.async {}
            }
        }
        var count = 0
        while true {
            let taken = count < maximum ? signals : []
            let end = MainActor.assumeIsolated {
                MainRunLoop.run(until: { result.withLock { $0 != nil } }, stoppingOn: taken)
            }
            if case .signal(let number) = end { handle(number) }
            if let value = result.withLock(\.self) { return try value.get() }
            count += 1
        }
    }

    /// Ends the process by a signal, so that its parent sees the signal.
    static func end(by number: Int32) {
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }
}
