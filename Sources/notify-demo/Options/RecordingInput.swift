import DeliveryDiagnostics
import Foundation
import SystemPackage

/// A recording that a command reads, and what is said of it.
enum RecordingInput {
    /// Reads a recording's file, or standard input for `-`, and says on standard error what is wrong with it.
    static func read(_ path: String, for command: String, _ terminal: Terminal) throws -> Recording {
        let progress = ProgressLine(command)
        defer { progress.clear() }
        let recording = try Recording(path: path) { progress.show("\($0) records read") }
        progress.clear()
        terminal.sayProblems(of: recording)
        return recording
    }

    /// How wide a line of standard output is to be: not limited, unless it is a terminal.
    static var width: Int {
        isatty(FileDescriptor.standardOutput.rawValue) == 1 ? TerminalWidth.current : .max
    }
}
