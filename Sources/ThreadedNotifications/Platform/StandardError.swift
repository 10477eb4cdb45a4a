internal import Glibc

/// Messages of the package on standard error, where no caller could catch an error.
enum StandardError {
    /// Writes a line that begins with the package's name.
    static func write(_ message: String) {
        let line = Array("ThreadedNotifications: \(message)\n".utf8)
        _ = Glibc.write(STDERR_FILENO, line, line.count)
    }
}
