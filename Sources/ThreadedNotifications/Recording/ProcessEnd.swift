internal import Glibc

/// What a recording does when the process ends or forks: the hooks that the system has for it.
enum ProcessEnd {
    /// What is to be written when a signal ends the process.
    //
    // Safety: set with the lock of `DeliveryRecording` held. A signal handler reads it without: what it points to is never
    // deallocated.
    nonisolated(unsafe) static var buffers: UnsafeMutablePointer<RecordBuffers>?

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
            // Who handles a request to end may go on, and exits otherwise; who handles a crash, such as the backtracer, comes
            // after this.
            guard isDefault || signals.firstIndex(of: signal).map({ $0 < 6 }) == true else { continue }
            before[Int(signal)] = old
            var new = sigaction()
            new.__sigaction_handler.sa_sigaction = { signal, information, _ in
                ProcessEnd.handle(signal, isSent: information.map { $0.pointee.si_code <= 0 } ?? true)
            }
            new.sa_flags = SA_SIGINFO | Int32(SA_ONSTACK)
            sigaction(signal, &new, nil)
        }
    }

    /// Allocates nothing, takes no lock, and calls the system only.
    private static func handle(_ signal: Int32, isSent: Bool) {
        if let buffers {
            Self.buffers = nil
            buffers.pointee.appendEnd("signal", signal: signal)
            // The other may be half written: then the same bytes are written twice to the same place.
            _ = RecordBuffers.write(buffers.pointee.written, to: buffers.pointee.descriptor)
            _ = RecordBuffers.write(buffers.pointee.filled, to: buffers.pointee.descriptor)
        }
        sigaction(signal, before + Int(signal), nil)
        if isSent || signal == SIGABRT { raise(signal) }
    }
}
