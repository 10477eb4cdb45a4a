internal import Foundation

/// Standard output or standard error, which may be a terminal.
package enum TerminalStream: Sendable {
    case standardOutput
    case standardError

    private var descriptor: Int32 { self == .standardOutput ? STDOUT_FILENO : STDERR_FILENO }

    package var isTerminal: Bool { isatty(descriptor) == 1 }

    /// The terminal's number of columns, or nil if it is not a terminal.
    package var width: Int? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
        return size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}

/// The number of columns of standard output or standard error.
package enum TerminalWidth {
    /// The terminal's width, or nil if standard output is not a terminal.
    package static var ofTerminal: Int? { TerminalStream.standardOutput.width }

    /// The terminal's width; without a terminal the value of `COLUMNS`, or 80.
    package static var current: Int {
        let columns = ofTerminal ?? ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? 80
        return columns > 0 ? columns : 80
    }
}
