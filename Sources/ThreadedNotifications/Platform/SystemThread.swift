internal import CLinux
internal import Dispatch
internal import Glibc

/// A thread of the system: what POSIX, the kernel and glibc have that Foundation on Linux does not show.
///
/// With `EventDescriptor` and `ThreadContext`'s storage, all of this target that knows the platform.
package struct SystemThread: Sendable {
    private let handle: pthread_t

    /// The kernel's id of the calling thread.
    package static var currentKernelID: Int32 { gettid() }

    /// The kernel's id of this process, and of its main thread.
    static var processID: Int32 { getpid() }

    /// Whether the calling thread is the process's first.
    static var currentIsMain: Bool { gettid() == getpid() }

    /// The monotonic clock, in nanoseconds.
    static var monotonicNanoseconds: UInt64 { DispatchTime.now().uptimeNanoseconds }

    /// Tells the kernel what the calling thread is called: the first 15 bytes, cut between characters.
    package static func nameCurrent(_ name: String) {
        var kernelName = name
        while kernelName.utf8.count > 15 { kernelName.removeLast() }
        _ = pthread_setname_np(pthread_self(), kernelName)
    }

    /// What this package knows of the calling thread, kept in storage that goes when the thread ends.
    @inline(__always)
    static var currentContext: Unmanaged<ThreadContext> {
        if let stored = pthread_getspecific(contextKey) { return Unmanaged<ThreadContext>.fromOpaque(stored) }
        return makeContext()
    }

    @inline(never)
    private static func makeContext() -> Unmanaged<ThreadContext> {
        let context = Unmanaged.passRetained(ThreadContext(isMain: currentIsMain))
        pthread_setspecific(contextKey, context.toOpaque())
        return context
    }

    private static let contextKey: pthread_key_t = {
        var key = pthread_key_t()
        let result = pthread_key_create(&key) { stored in
            guard let stored else { return }
            let context = Unmanaged<ThreadContext>.fromOpaque(stored)
            let round = context.takeUnretainedValue().beginDestructorRound()
            // Other destructors of the ending thread may still ask who they run on: CoreFoundation ends the run loop in
            // the last round but one, so until then the context stays. The last round is the thread sanitizer's.
            if round < PTHREAD_DESTRUCTOR_ITERATIONS - 1 {
                pthread_setspecific(contextKey, stored)
                if round == 1 { context.takeUnretainedValue().threadEnds() }
            } else {
                context.release()
            }
        }
        precondition(result == 0, "SystemThread: the process has no thread-specific key left (error \(result))")
        return key
    }()

    /// Starts a thread, to be joined or detached once.
    ///
    /// - Returns: the thread, or the system's error number.
    static func start(_ body: @escaping @Sendable () -> Void) -> Result<SystemThread, SystemError> {
        var handle = pthread_t()
        let context = Unmanaged.passRetained(Body(run: body))
        let code = pthread_create(
            &handle, nil,
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, context.toOpaque())
        guard code == 0 else {
            context.release()
            return .failure(SystemError(code: code))
        }
        return .success(SystemThread(handle: handle))
    }

    /// Starts a thread that no signal to the process is handled on: they are for the program's own threads, which may have
    /// blocked them to wait for them. Its own faults are.
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

    /// Whether the calling thread is this one. A handle is not given to another thread before it was joined or detached.
    package var isCurrent: Bool { pthread_equal(handle, pthread_self()) != 0 }

    /// Waits until the thread has ended, its specific storage and run loop gone.
    ///
    /// - Returns: false when the deadline passed; then it may be joined later.
    package func join(until deadline: ContinuousClock.Instant) -> Bool {
        CLinuxJoinThread(handle, Int64(deadline.nanosecondsFromNow)) == 0
    }

    /// Lets the system forget the thread when it ends.
    package func detach() {
        pthread_detach(handle)
    }

    package struct SystemError: Error {
        package var code: Int32
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }
}

extension ContinuousClock.Instant {
    /// A limit from now; one of more than 30 years is as good as none, and does not overflow.
    package static func after(_ limit: Duration) -> ContinuousClock.Instant {
        .now.advanced(by: min(max(limit, .zero), .seconds(1_000_000_000)))
    }

    /// Zero when it has passed.
    var nanosecondsFromNow: Int {
        let (seconds, attoseconds) = max(ContinuousClock.now.duration(to: self), .zero).components
        return Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    }
}
