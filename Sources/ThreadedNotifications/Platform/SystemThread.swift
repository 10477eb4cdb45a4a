internal import CLinux
internal import Dispatch
internal import Glibc

/// A POSIX thread, with the functions of the kernel and glibc that Foundation on Linux does not offer.
package struct SystemThread: Sendable {
    private let handle: pthread_t

    /// The kernel's id of the calling thread.
    package static var currentKernelID: Int32 { gettid() }

    /// The kernel's id of this process, and of its main thread.
    static var processID: Int32 { getpid() }

    /// True if the calling thread is the main thread.
    package static var currentIsMain: Bool { gettid() == getpid() }

    /// The monotonic clock, in nanoseconds.
    package static var monotonicNanoseconds: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// Sets the name of the calling thread in the kernel: the first 15 bytes, truncated between characters.
    package static func nameCurrent(_ name: String) {
        var kernelName = name
        while kernelName.utf8.count > 15 { kernelName.removeLast() }
        _ = pthread_setname_np(pthread_self(), kernelName)
    }

    package struct SystemError: Error {
        package var code: Int32
    }

    /// Starts a thread, to be joined or detached once.
    static func start(_ body: @escaping @Sendable () -> Void) -> Result<SystemThread, SystemError> {
        var handle = pthread_t()
        let context = Unmanaged.passRetained(Body(run: body))
        let code = pthread_create(
            &handle, nil,
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, context.toOpaque())
        if code == 0 { return .success(SystemThread(handle: handle)) }
        context.release()
        return .failure(SystemError(code: code))
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Starts a thread that handles no signals to the process, because the program may wait for them on threads of its
    /// own. The thread handles its own faults.
    package static func startWithoutSignals(
        _ body: @escaping @Sendable () -> Void
    ) -> Result<SystemThread, SystemError> {
        var (blocked, before) = (sigset_t(), sigset_t())
        sigfillset(&blocked)
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS] { sigdelset(&blocked, fault) }
        pthread_sigmask(SIG_SETMASK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        return start(body)
    }

    /// True if the calling thread is this one. The system reuses a handle only after the thread was joined or detached.
    package var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }

    /// Waits until the thread has ended, and its thread-specific storage and run loop have been destroyed.
    /// - Returns: false if the deadline passed. The thread may be joined again later.
    package func join(until deadline: SuspendingClock.Instant) -> Bool {
        CLinuxJoinThread(handle, deadline.nanosecondsFromNow) == 0
    }

    /// Lets the system release the thread's resources when it ends.
    package func detach() { pthread_detach(handle) }
}
