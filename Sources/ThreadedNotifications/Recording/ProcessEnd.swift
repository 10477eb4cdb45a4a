internal import Glibc
internal import Synchronization

/// What a recording does when the process ends or forks: the hooks that the system has for it.
enum ProcessEnd {
    /// What is to be written when a signal ends the process.
    //
    // Safety: set with the lock of `DeliveryRecording` held, or by `forget`. A signal handler reads it without: what it points
    // to is never deallocated.
    nonisolated(unsafe) static var buffers: UnsafeMutablePointer<RecordBuffers>?

    /// Whether a signal is ending the process, whose handler needs the memory for lines and the file.
    //
    // Safety: set only, and never unset. It and `buffers` are each written before the other is read, with a fence between.
    private nonisolated(unsafe) static var isEnding = false

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
            new.__sigaction_handler.sa_sigaction = { signal, information, _ in
                ProcessEnd.handle(signal, isSent: information.map { $0.pointee.si_code <= 0 } ?? true)
            }
            new.sa_flags = SA_SIGINFO | Int32(SA_ONSTACK)
            sigaction(signal, &new, nil)
        }
    }

    /// A recording has written all it has.
    /// - Returns: whether its memory for lines and its file may go: no signal handler uses them, or will.
    static func forget(_ old: UnsafeMutablePointer<RecordBuffers>) -> Bool {
        if buffers == old { buffers = nil }
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        return !isEnding
    }

    /// Allocates nothing, takes no lock, and calls the system only.
    private static func handle(_ signal: Int32, isSent: Bool) {
        writeWithoutLocks("signal", signal: signal)
        sigaction(signal, before + Int(signal), nil)
        // Those of the processor's come again by themselves. The system goes on after a trap or a forbidden call.
        let comesAgain = signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE
        if isSent || !comesAgain { raise(signal) }
    }

    /// Writes what is left when no lock can be had, or may be waited for. It allocates nothing, and calls the system only.
    static func writeWithoutLocks(_ why: StaticString, signal: Int32? = nil) {
        isEnding = true
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        // A copy of the process that was made without `fork` has the memory, and not the recording.
        guard let buffers, buffers.pointee.process == getpid() else { return }
        Self.buffers = nil
        buffers.pointee.appendEnd(why, signal: signal)
        // The other may be half written: then the same bytes are written twice to the same place.
        _ = RecordBuffers.write(buffers.pointee.written, to: buffers.pointee.descriptor)
        _ = RecordBuffers.write(buffers.pointee.filled, to: buffers.pointee.descriptor)
    }
}
