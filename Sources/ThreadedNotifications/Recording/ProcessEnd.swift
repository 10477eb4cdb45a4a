internal import Glibc
internal import Synchronization

/// What a recording does when the process ends or forks: the hooks that the system has for it.
enum ProcessEnd {
    /// The recording that is finished when a signal ends the process, as the bits of an unmanaged reference, or 0. A
    /// file that was recorded to is never released.
    private static let file = Atomic<UInt>(0)

    /// What the process did at each signal before.
    //
    // Safety: filled before the handler is installed that reads it.
    private nonisolated(unsafe) static let before = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)

    /// The signals that end a process which does not handle them. The first five are mostly the processor's, who comes back to
    /// the same instruction when their handler returns.
    private static let signals = [
        SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE,
    ]

    /// Once in a process.
    static func install() {
        atexit { DeliveryRecording.processExits() }
        pthread_atfork(
            { DeliveryRecording.processWillFork() }, { DeliveryRecording.processForked() },
            { DeliveryRecording.processIsCopy() })
        for signal in signals {
            var old = sigaction()
            guard sigaction(signal, nil, &old) == 0 else { continue }
            let isDefault = old.__sigaction_handler.sa_handler == nil
            let isIgnored = unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == 1
            // Who handles a request to end may go on, and exits otherwise; who handles a crash, such as the backtracer, comes
            // after this. What is ignored ends nothing.
            let isCrash = signals.firstIndex(of: signal).map { $0 < 6 } == true
            guard isDefault || isCrash && !isIgnored else { continue }
            before[Int(signal)] = old
            var new = sigaction()
            // A second signal waits until this one has ended the process.
            sigfillset(&new.sa_mask)
            new.__sigaction_handler.sa_sigaction = { signal, information, _ in
                ProcessEnd.handle(signal, isSent: information.map { $0.pointee.si_code <= 0 } ?? true)
            }
            new.sa_flags = SA_SIGINFO | Int32(SA_ONSTACK)
            sigaction(signal, &new, nil)
        }
    }

    /// Finishes a recording when a signal ends the process.
    static func remember(_ recorded: RecordFile) {
        file.store(bits(recorded), ordering: .releasing)
    }

    /// A recording is finished, or not this process's any more.
    static func forget(_ recorded: RecordFile) {
        _ = file.compareExchange(expected: bits(recorded), desired: 0, ordering: .relaxed)
    }

    private static func bits(_ file: RecordFile) -> UInt { UInt(bitPattern: Unmanaged.passUnretained(file).toOpaque()) }

    /// Allocates nothing. It waits for a lock for a limited time only: see `RecordLock`.
    private static func handle(_ signal: Int32, isSent: Bool) {
        finish("signal", signal: signal)
        sigaction(signal, before + Int(signal), nil)
        // Those of the processor's come again by themselves. The system goes on after a trap or a forbidden call.
        let comesAgain = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE
        if isSent || !comesAgain { raise(signal) }
    }

    /// Writes what is left when the process ends at once. It allocates nothing, and calls the system only.
    static func finish(_ why: StaticString, signal: Int32? = nil) {
        guard let recorded = UnsafeRawPointer(bitPattern: file.load(ordering: .acquiring)) else { return }
        Unmanaged<RecordFile>.fromOpaque(recorded)._withUnsafeGuaranteedRef { $0.finishInHandler(why, signal: signal) }
    }
}
