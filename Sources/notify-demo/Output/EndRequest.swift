import Foundation
import Synchronization
import SystemPackage

/// Handles SIGINT (Ctrl-C), SIGTERM and SIGHUP for a command that must finish something before it ends.
///
/// The first signal calls the handler. A second one has its default effect. A signal that is ignored stays ignored, as
/// in a script's background commands.
enum EndRequest {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// - Parameters:
    ///   - timeout: the longest that the process may run after the handler was called. Nil means no end.
    ///   - handler: called once, on a thread of its own.
    static func handle(within timeout: Duration?, _ handler: @escaping @Sendable (Int32) -> Void) throws {
        let (input, output) = try FileDescriptor.pipe()
        for descriptor in [input, output] { _ = fcntl(descriptor.rawValue, F_SETFD, FD_CLOEXEC) }
        requestDescriptor.store(output.rawValue, ordering: .relaxed)
        for number in signals where !isIgnored(number) {
            // Only calls that are safe in a signal handler.
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
            guard let timeout else { return }
            Thread.sleep(forTimeInterval: timeout / .seconds(1))
            end(by: Int32(byte[0]))
        }
    }

    /// Ends the process by a signal, so that its parent sees the signal.
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

/// The descriptor that the signal handler writes to, or -1.
private let requestDescriptor = Atomic<Int32>(-1)
