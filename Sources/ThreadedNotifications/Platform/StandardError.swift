internal import CLinux
internal import Glibc

/// Messages of the package on standard error, where no caller could catch an error.
package enum StandardError {
    /// Writes a line that begins with the package's name.
    static func write(_ message: String) {
        let line = Array("ThreadedNotifications: \(message)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
    }

    /// Writes a warning, unless `THREADED_NOTIFICATIONS_WARNINGS` is 0.
    package static func warn(_ message: String) {
        if CLinuxEnvironment("THREADED_NOTIFICATIONS_WARNINGS").map({ String(cString: $0) }) != "0" { write(message) }
    }
}
