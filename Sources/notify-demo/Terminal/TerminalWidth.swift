import Foundation
import SystemPackage

/// How many columns a line of standard output may have.
enum TerminalWidth {
    /// The terminal's; without one, what `COLUMNS` says, or 80.
    static var current: Int {
        var size = winsize()
        if ioctl(FileDescriptor.standardOutput.rawValue, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
            return Int(size.ws_col)
        }
        let columns = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? 80
        return columns > 0 ? columns : 80
    }
}
