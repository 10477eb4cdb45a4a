import Foundation
import Synchronization

/// The file of this process that is written and not complete. A signal that ends the process removes it.
enum UnfinishedOutput {
    /// A C string that is never deallocated, or 0.
    private static let path = Atomic<UInt>(0)

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// What the process did at each signal before.
    //
    // Safety: filled before the handler is installed that reads it.
    private nonisolated(unsafe) static let before = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)

    /// Installs the handlers.
    private static let handlers: Void = {
        for signal in signals {
            guard sigaction(signal, nil, before + Int(signal)) == 0 else { continue }
            // SIG_IGN is the address 1. What is ignored ends nothing.
            if unsafeBitCast(before[Int(signal)].__sigaction_handler.sa_handler, to: Int.self) == 1 { continue }
            var new = sigaction()
            sigfillset(&new.sa_mask)
            new.__sigaction_handler.sa_handler = { signal in
                UnfinishedOutput.remove()
                sigaction(signal, before + Int(signal), nil)
                raise(signal)
            }
            sigaction(signal, &new, nil)
        }
        // A file that may not grow any more is an error of `write`, and does not end the process.
        signal(SIGXFSZ) { _ in }
    }()

    /// A process writes one file at a time. A second one stays behind when a signal ends the process.
    static func begin(_ path: String) {
        _ = handlers
        guard let copy = strdup(path) else { return }
        let isOnly = self.path.compareExchange(
            expected: 0, desired: UInt(bitPattern: copy), ordering: .acquiringAndReleasing
        ).exchanged
        if !isOnly { free(copy) }
    }

    static func end() {
        path.store(0, ordering: .releasing)
    }

    /// Removes the file, if there is one. Calls only what a signal handler may.
    static func remove() {
        let unfinished = path.exchange(0, ordering: .acquiringAndReleasing)
        if let unfinished = UnsafePointer<CChar>(bitPattern: unfinished) { unlink(unfinished) }
    }
}
