import Foundation
import Synchronization
import SystemPackage

/// Requests to end this process: SIGINT (Ctrl-C), SIGQUIT, SIGTERM and SIGHUP.
///
/// A request that this process ignores, such as SIGINT in a script's background command, stays ignored.
enum EndRequests {
    static let all = [SIGINT, SIGQUIT, SIGTERM, SIGHUP]

    /// The descriptor that the signal handler writes to, or -1.
    private static let descriptor = Atomic<Int32>(-1)
    private static let handled = Mutex<[Int32]>([])

    /// Calls `handler` for each request, instead of ending the process, until `stop()`. A process handles requests in
    /// one way only: a second call has no effect until then.
    ///
    /// Threads: `handler` is called on a thread of its own.
    static func handle(_ signals: [Int32] = all, _ handler: @escaping @Sendable (Int32) -> Void) throws {
        guard handled.withLock(\.isEmpty) else { return }
        try pass(to: handler)
        for number in signals {
            var before = sigaction()
            sigaction(number, nil, &before)
            // SIG_IGN is the address 1.
            if unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) == 1 { continue }
            handled.withLock { $0.append(number) }
            // Calls only functions that are safe in a signal handler.
            signal(number) { number in
                let before = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(EndRequests.descriptor.load(ordering: .sequentiallyConsistent), &byte, 1)
                errno = before
            }
        }
    }

    /// Calls another handler for each request from now on. Earlier requests are still for the handler before.
    static func pass(to handler: @escaping @Sendable (Int32) -> Void) throws {
        let (input, output) = try FileDescriptor.pipe()
        for descriptor in [input, output] { _ = fcntl(descriptor.rawValue, F_SETFD, FD_CLOEXEC) }
        descriptor.store(output.rawValue, ordering: .sequentiallyConsistent)
        Thread.detachNewThread {
            var byte: [UInt8] = [0]
            while let count = try? byte.withUnsafeMutableBytes({ try input.read(into: $0) }), count == 1 {
                handler(Int32(byte[0]))
            }
        }
    }

    /// Gives requests their default effect again.
    static func stop() {
        handled.withLock { numbers in
            for number in numbers { signal(number, SIG_DFL) }
            numbers = []
        }
    }

    /// Ends the process by a signal, so that its parent sees the signal.
    static func end(by number: Int32) {
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }
}
