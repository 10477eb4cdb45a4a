import Glibc
import Synchronization

/// Forwards signals that ask a process to end to a child process, so that this process can report how the child ended.
/// A terminal sends its signals to both processes, so these are not forwarded. Ignored signals stay ignored.
struct EndRequests {
    private static let fromTerminal = [SIGINT, SIGQUIT]
    private static let toOne = [SIGTERM, SIGHUP]

    /// The signals with a changed disposition.
    let changed: [Int32]

    init() {
        // Must precede the installation of the handler: an earlier run may have left values.
        processToEnd.store(0, ordering: .relaxed)
        notedRequest.store(0, ordering: .relaxed)
        changed = (Self.fromTerminal + Self.toOne).filter { signal in
            var before = sigaction()
            sigaction(signal, nil, &before)
            // SIG_IGN is the address 1.
            return unsafeBitCast(before.__sigaction_handler.sa_handler, to: Int.self) != 1
        }
        for signal in changed where Self.fromTerminal.contains(signal) { Glibc.signal(signal, SIG_IGN) }
        for signal in changed where Self.toOne.contains(signal) {
            Glibc.signal(signal) { signal in
                notedRequest.store(signal, ordering: .sequentiallyConsistent)
                passOnNotedRequest()
            }
        }
    }

    /// Forwards future signals, and the last one that came before.
    func passOn(to process: Int32) {
        processToEnd.store(process, ordering: .sequentiallyConsistent)
        passOnNotedRequest()
    }

    func passOnNothing() {
        processToEnd.store(0, ordering: .sequentiallyConsistent)
    }

    func end() {
        passOnNothing()
        for signal in changed { Glibc.signal(signal, SIG_DFL) }
    }
}

/// The process to forward to, or 0.
private let processToEnd = Atomic<Int32>(0)
/// The last signal that was not forwarded yet, or 0.
private let notedRequest = Atomic<Int32>(0)

/// Called after either atomic was stored, so the second caller sees both values.
private func passOnNotedRequest() {
    let process = processToEnd.load(ordering: .sequentiallyConsistent)
    guard process > 0 else { return }
    let signal = notedRequest.exchange(0, ordering: .sequentiallyConsistent)
    if signal > 0 { kill(process, signal) }
}
