internal import Glibc
internal import Synchronization

/// The signals that ask a process to end, passed on to another, so that this one can tell how that one ended. Those that a
/// terminal sends to both are not passed on, and what was ignored stays so.
struct EndRequests {
    private static let fromTerminal = [SIGINT, SIGQUIT]
    private static let toOne = [SIGTERM, SIGHUP]

    /// The signals that this process does otherwise with now than it did.
    let changed: [Int32]

    init() {
        // Before the handler can be called: an earlier run may have left something.
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

    /// Passes on what comes from now on, and what came before.
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

/// 0 if there is none.
private let processToEnd = Atomic<Int32>(0)
/// The last signal that asked this process to end and was not passed on yet, or 0.
private let notedRequest = Atomic<Int32>(0)

/// Called after either of the two was stored. So whoever stores second finds both.
private func passOnNotedRequest() {
    let process = processToEnd.load(ordering: .sequentiallyConsistent)
    guard process > 0 else { return }
    let signal = notedRequest.exchange(0, ordering: .sequentiallyConsistent)
    if signal > 0 { kill(process, signal) }
}
