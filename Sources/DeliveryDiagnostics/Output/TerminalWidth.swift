internal import Foundation
internal import SystemPackage

/// The number of columns of standard output or standard error.
package enum TerminalWidth {
    /// The terminal's width, or nil if standard output is not a terminal.
    package static var ofTerminal: Int? { of(.standardOutput) }

    /// The terminal's width, or nil if standard error is not a terminal.
    package static var ofStandardError: Int? { of(.standardError) }

    private static func of(_ stream: FileDescriptor) -> Int? {
        var size = winsize()
        guard ioctl(stream.rawValue, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
        return size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// The terminal's width; without a terminal the value of `COLUMNS`, or 80.
    package static var current: Int {
        let columns = ofTerminal ?? ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? 80
        return columns > 0 ? columns : 80
    }
}
