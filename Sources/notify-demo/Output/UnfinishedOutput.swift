import Foundation
import Synchronization

/// The temporary file of this process's unfinished output. A signal that ends the process removes it.
enum UnfinishedOutput {
    /// A C string that is never deallocated, or 0.
    private static let path = Atomic<UInt>(0)

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// The process's earlier actions for the signals.
    //
    // Safety: filled before the handler that reads it is installed.
    private nonisolated(unsafe) static let before = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)

    /// Installs the handlers.
    private static let handlers: Void = {
        for signal in signals {
            guard sigaction(signal, nil, before + Int(signal)) == 0 else { continue }
            // SIG_IGN is the address 1. An ignored signal does not end the process.
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
        // Exceeding the file size limit is then an error of `write`, and does not end the process.
        signal(SIGXFSZ) { _ in }
    }()

    /// A process writes one file at a time. If there were a second one, a signal would leave it behind.
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

    /// Removes the file, if there is one. Calls only functions that are safe in a signal handler.
    static func remove() {
        let unfinished = path.exchange(0, ordering: .acquiringAndReleasing)
        if let unfinished = UnsafePointer<CChar>(bitPattern: unfinished) { unlink(unfinished) }
    }
}
