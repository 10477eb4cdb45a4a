import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import SystemPackage
import TerminalText

/// The file of the recording that a command reads.
struct RecordingFile: ParsableArguments {
    /// The file that `record` writes by default.
    static let defaultPath = "notifications.jsonl"

    /// The argument that names a recording in a command to type, after a blank; none for the default.
    static func argument(_ path: String) -> String { path == defaultPath ? "" : " \(ShellText.path(path))" }

    @Argument(help: ArgumentHelp("A recording, or - for standard input.", valueName: "recording"), completion: .file())
    var path = Self.defaultPath

    /// Reads the recording, and reports its first problems on standard error.
    ///
    /// - Parameter read: reads the file of a path; called with the path, and what to call with the number of records.
    func read(
        _ terminal: Terminal,
        _ read: (String, (Int) -> Void) throws -> Recording = { try Recording(path: $0, progress: $1) }
    ) throws -> Recording {
        if path == Self.defaultPath, (try? FilePath(path).stat()) == nil {
            throw CommandError(
                description:
                    "there is no \(path) here. Name a recording, or record a program first: "
                    + "notify-demo record -- ./my-program")
        }
        let recording = try read(path) { terminal.show(progress: "\($0) records read") }
        recording.reportProblems(on: terminal)
        return recording
    }
}

extension Recording {
    /// Reports the first problems of the recording's file, and what was not recorded, on standard error.
    func reportProblems(on terminal: Terminal) {
        let maximum = 5
        for problem in problems.prefix(maximum) { terminal.report("\(problem)") }
        let more = problemCount - min(problems.count, maximum)
        let source = ShownText.escaped(source)
        if more > 0 { terminal.report("\(source): \(more) more problems in this file") }
        for note in notes { terminal.report(note) }
        for unrecorded in unrecorded.prefix(maximum) {
            let process = processes[Int(unrecorded.process)]
            terminal.report("\(source): not recorded of \(Excerpt.of(process.name)): \(Excerpt.of(unrecorded.reason))")
        }
    }
}
