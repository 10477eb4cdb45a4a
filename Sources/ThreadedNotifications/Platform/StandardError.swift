internal import CLinux
internal import Glibc

/// Messages of the package on standard error, where no caller could catch an error.
package enum StandardError {
    /// Writes a line that begins with the package's name. It never ends the process.
    static func write(_ message: String) {
        let line = Array("ThreadedNotifications: \(message)\n".utf8)
        withoutPipeSignal { Glibc.write(STDERR_FILENO, line, line.count) < 0 && errno == EPIPE }
    }

    /// Calls `body`, which returns true if it wrote to a pipe without a reader, and takes back the SIGPIPE of that.
    private static func withoutPipeSignal(_ body: () -> Bool) {
        var (pipe, before, pending) = (sigset_t(), sigset_t(), sigset_t())
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        // One that was pending before is another's.
        sigpending(&pending)
        guard body(), sigismember(&pending, SIGPIPE) == 0 else { return }
        var noTime = timespec()
        while sigtimedwait(&pipe, nil, &noTime) < 0, errno == EINTR {}
    }

    /// Writes a warning, unless `THREADED_NOTIFICATIONS_WARNINGS` is 0.
    package static func warn(_ message: String) {
        if CLinuxEnvironment("THREADED_NOTIFICATIONS_WARNINGS").map({ String(cString: $0) }) != "0" { write(message) }
    }
}
