import Foundation
import Synchronization
import SystemPackage

/// Ctrl-C and the other requests to end (SIGINT, SIGTERM, SIGHUP), told to a command that has something to do before.
///
/// The first is told; a second does what it does to any program. What is ignored, as by a script's background commands, stays so.
enum EndRequest {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// - Parameters:
    ///   - limit: how long the process may go on after the handler was called; nil for as long as it takes.
    ///   - handler: called once, on a thread of its own.
    static func handle(within limit: Duration?, _ handler: @escaping @Sendable (Int32) -> Void) throws {
        let (input, output) = try FileDescriptor.pipe()
        for descriptor in [input, output] { _ = fcntl(descriptor.rawValue, F_SETFD, FD_CLOEXEC) }
        requestDescriptor.store(output.rawValue, ordering: .relaxed)
        for number in signals where !isIgnored(number) {
            // Only what may be done in a signal handler.
            signal(number) { number in
                let before = errno
                signal(SIGINT, SIG_DFL)
                signal(SIGTERM, SIG_DFL)
                signal(SIGHUP, SIG_DFL)
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(requestDescriptor.load(ordering: .relaxed), &byte, 1)
                errno = before
            }
        }
        Thread.detachNewThread {
            var byte: [UInt8] = [0]
            let count = byte.withUnsafeMutableBytes { try? input.read(into: $0) }
            guard count == 1 else { return }
            handler(Int32(byte[0]))
            guard let limit else { return }
            Thread.sleep(forTimeInterval: limit / .seconds(1))
            end(by: Int32(byte[0]))
        }
    }

    /// Ends the process by a signal, so that who started it sees that it did what was asked.
    static func end(by number: Int32) {
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var before = sigaction()
        sigaction(number, nil, &before)
        // SIG_IGN is the address 1.
        return unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) == 1
    }
}

/// Where the signal handler writes to; -1 before there is one.
private let requestDescriptor = Atomic<Int32>(-1)
