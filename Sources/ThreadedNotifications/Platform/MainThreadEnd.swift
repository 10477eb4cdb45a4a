internal import CLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// The end of the main thread while the program continues.
///
/// If the main function is `async` and the program does not link `AsyncMain`, or if it calls `dispatchMain()`, the
/// system ends the main thread, and threads of Dispatch serve the main queue and the main actor. Nothing can be
/// delivered on the main thread then. Its mailbox is finished, so that later notifications have the outcome
/// `targetGone`, and the first one that is lost causes a warning.
enum MainThreadEnd {
    /// Called when the main thread's mailbox is created. The mailbox is finished when the main thread has ended.
    static func watch() {
        // Only the main thread serves the main queue, until it ends. If it never does either, the block never runs. A
        // main thread with a context ends its mailbox itself.
        DispatchQueue.main.async {
            if SystemThread.currentIsMain { ThreadContext.withCurrent { _ in } } else { found() }
        }
    }

    /// Called when code of the main queue or of the main actor runs on another thread.
    static func found() {
        // A main thread with a context finishes its mailbox when it ends, because only it can take what it drains.
        if !ThreadContext.isMainKnown, let lost = Mailbox.main.end() { Mailbox.main.reportEnd(lost) }
    }

    /// Warns once in this process. In a copy, the main thread has ended for another reason.
    static func warn() {
        if !ForkedCopy.isCopy, !hasWarned.exchange(true, ordering: .relaxed) { StandardError.warn(warning) }
    }

    static let warning =
        "a notification or block for the main thread is lost, because the main thread has ended. The main function is "
        + "async or called dispatchMain(), so the main run loop never runs. Link the library AsyncMain to a program "
        + "with an async main, or to a target of Swift Testing. Or write a synchronous main function that starts a Task "
        + "and calls MainRunLoop.run(). THREADED_NOTIFICATIONS_WARNINGS=0 disables this warning."
}

private let hasWarned = Atomic(false)

/// Warnings of the package on standard error, where no caller could catch an error.
package enum StandardError {
    /// Writes a line that begins with the package's name, unless `THREADED_NOTIFICATIONS_WARNINGS` is 0. It never ends
    /// the process.
    package static func warn(_ message: String) {
        if CLinuxEnvironment("THREADED_NOTIFICATIONS_WARNINGS").map({ String(cString: $0) }) == "0" { return }
        let line = Array("ThreadedNotifications: \(message)\n".utf8)
        // If nobody reads the pipe, the SIGPIPE of this write is taken back. One that was pending before is another's.
        var (pipe, before, pending) = (sigset_t(), sigset_t(), sigset_t())
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        sigpending(&pending)
        guard write(STDERR_FILENO, line, line.count) < 0, errno == EPIPE, sigismember(&pending, SIGPIPE) == 0 else {
            return
        }
        var noTime = timespec()
        while sigtimedwait(&pipe, nil, &noTime) < 0, errno == EINTR {}
    }
}

/// Removes the main actor's isolation from closures that are called on the main thread only. A check at each call
/// (`MainActor.assumeIsolated`) would cost as much as a delivery.
//
// Safety: the callers pass the result to the mailbox of the main thread, and nowhere else; the main thread runs the
// main actor. If it has ended, the closure is never called. The isolation of a synchronous function is part of its
// type, and not of its representation: `assumeIsolated` of the standard library makes the same cast.
enum MainActorClosure {
    static func onMainThread<Value, Result>(
        _ handle: @escaping @MainActor (Value) -> Result
    ) -> @Sendable (Value) -> Result {
        unsafeBitCast(handle, to: (@Sendable (Value) -> Result).self)
    }

    static func onMainThread<Result>(_ block: @escaping @MainActor () -> Result) -> @Sendable () -> Result {
        unsafeBitCast(block, to: (@Sendable () -> Result).self)
    }
}
