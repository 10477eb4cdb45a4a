import Foundation
import SystemPackage

/// How many columns a line of standard output may have.
enum TerminalWidth {
    /// The terminal's; nil without one.
    static var ofTerminal: Int? {
        var size = winsize()
        guard ioctl(FileDescriptor.standardOutput.rawValue, UInt(TIOCGWINSZ), &size) == 0 else { return nil }
        return size.ws_col > 0 ? Int(size.ws_col) : 80
    }

    /// The terminal's; without one, what `COLUMNS` says, or 80.
    static var current: Int {
        if let columns = ofTerminal { return columns }
        let columns = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? 80
        return columns > 0 ? columns : 80
    }
}
