internal import Glibc
internal import Synchronization

/// Installs the system's hooks that finish a recording when the process ends, and adapt it when the process forks.
enum ProcessEnd {
    /// The recording that is finished when a signal ends the process, as the bits of an unmanaged reference, or 0. A
    /// `RecordFile` is never released.
    private static let file = Atomic<UInt>(0)

    /// The actions of the signals before the handler was installed, by signal number.
    //
    // Safety: an element is written before the signal's handler, which reads it, is installed.
    private nonisolated(unsafe) static let previousActions = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)

    /// The signals that end a process that does not handle them. The first six report crashes; most of these come from
    /// the processor, which repeats the instruction when the handler returns.
    private static let signals = [
        SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE,
    ]

    /// Installs the hooks. To be called once in a process.
    static func install() {
        atexit { RecordingWriter.processExits() }
        pthread_atfork(
            { RecordingWriter.processWillFork() }, { RecordingWriter.processForked() },
            { RecordingWriter.processIsCopy() })
        for signal in signals {
            var old = sigaction()
            guard sigaction(signal, nil, &old) == 0 else { continue }
            let isDefault = old.__sigaction_handler.sa_handler == nil
            let isIgnored = unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == 1
            // A program's handler of a request to end is left in place: the program continues, or exits. A handler of a
            // crash, such as the backtracer, is called after this one. An ignored signal does not end the process.
            let isCrash = signals.firstIndex(of: signal).map { $0 < 6 } == true
            guard isDefault || isCrash && !isIgnored else { continue }
            previousActions[Int(signal)] = old
            var new = sigaction()
            // Blocks other signals until this one has ended the process.
            sigfillset(&new.sa_mask)
            new.__sigaction_handler.sa_sigaction = { signal, information, _ in
                ProcessEnd.handle(signal, isSent: information.map { $0.pointee.si_code <= 0 } ?? true)
            }
            new.sa_flags = SA_SIGINFO | Int32(SA_ONSTACK)
            sigaction(signal, &new, nil)
        }
    }

    /// Sets the recording to finish when a signal ends the process.
    static func set(_ recorded: RecordFile) {
        file.store(bits(recorded), ordering: .releasing)
    }

    /// Removes a recording that is finished, or that belongs to the parent process.
    static func remove(_ recorded: RecordFile) {
        _ = file.compareExchange(expected: bits(recorded), desired: 0, ordering: .relaxed)
    }

    private static func bits(_ file: RecordFile) -> UInt { UInt(bitPattern: Unmanaged.passUnretained(file).toOpaque()) }

    /// Handles a signal. It allocates nothing, and waits for a lock for a limited time only: see `RecordLock`.
    private static func handle(_ signal: Int32, isSent: Bool) {
        finish("signal", signal: signal)
        sigaction(signal, previousActions + Int(signal), nil)
        // The processor raises these again when the handler returns. After a trap or a forbidden system call the
        // process would continue.
        let isRepeated = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE
        if isSent || !isRepeated { raise(signal) }
    }

    /// Writes the remaining records when the process ends at once. It allocates nothing and calls only the system.
    static func finish(_ reason: StaticString, signal: Int32? = nil) {
        guard let recorded = UnsafeRawPointer(bitPattern: file.load(ordering: .acquiring)) else { return }
        Unmanaged<RecordFile>.fromOpaque(recorded)._withUnsafeGuaranteedRef {
            $0.finishInHandler(reason, signal: signal)
        }
    }
}
