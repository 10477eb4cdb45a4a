import DeliveryDiagnostics
import Foundation
import SystemPackage

/// A recording that a command reads, and what is said of it.
enum RecordingInput {
    private static let mostProblems = 5

    /// Reads a recording's file, or standard input for `-`, and says on standard error what is wrong with it.
    static func read(_ path: String, for command: String, _ terminal: Terminal) throws -> Recording {
        let progress = ProgressLine(command)
        defer { progress.clear() }
        let recording = try Recording(path: path) { progress.show("\($0) records read") }
        progress.clear()
        for problem in recording.problems.prefix(mostProblems) { terminal.say("notify-demo: \(problem)") }
        let more = recording.problemCount - min(mostProblems, recording.problems.count)
        if more > 0 { terminal.say("notify-demo: \(path): and \(more) more") }
        return recording
    }

    /// How wide a line of standard output is to be: not limited, unless it is a terminal.
    static var width: Int {
        guard isatty(FileDescriptor.standardOutput.rawValue) == 1 else { return .max }
        var size = winsize()
        let isKnown = ioctl(FileDescriptor.standardOutput.rawValue, UInt(TIOCGWINSZ), &size) == 0
        return isKnown && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}
