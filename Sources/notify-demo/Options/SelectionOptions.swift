import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import TerminalText

/// The part of a recording that a command shows.
struct SelectionOptions: ParsableArguments {
    @Option(help: "Only notifications with this name.")
    var name: String?

    @Option(help: "Only what happens on this thread or is for it: its name or number.")
    var thread: String?

    @Option(help: "Begin this long after the first record: 10ms, 1.5s, 200us.")
    var from: ElapsedTime?

    @Option(help: "End this long after the first record.")
    var to: ElapsedTime?

    @Option(help: ArgumentHelp("Only this post, by its number.", valueName: "n"))
    var post: Int?

    func selection(of index: RecordingIndex) throws -> RecordingSelection {
        try RecordingSelection(
            name: name, thread: thread, post: post, from: from?.nanoseconds ?? 0, to: to?.nanoseconds ?? .max, of: index
        )
    }

    /// Reads the recording, and reports its first problems on standard error.
    ///
    /// - Throws: also if the recording does not contain what the options select.
    func read(_ path: String, _ terminal: Terminal) throws -> (index: RecordingIndex, selection: RecordingSelection) {
        let index = RecordingIndex(try RecordingFile.read(path, terminal))
        return (index, try selection(of: index))
    }
}

/// The file of the recording that a command reads.
enum RecordingFile {
    /// The file that `record` writes by default.
    static let defaultPath = "notifications.jsonl"
    static let help = ArgumentHelp("A recording, or - for standard input.", valueName: "recording")

    /// The argument that names a recording in a command to type, after a blank; none for the default.
    static func argument(_ path: String) -> String { path == defaultPath ? "" : " \(ShellText.path(path))" }

    /// Reads the recording, and reports its first problems on standard error.
    ///
    /// - Parameter read: reads the file of a path; called with the path, and what to call with the number of records.
    static func read(
        _ path: String, _ terminal: Terminal,
        _ read: (String, (Int) -> Void) throws -> Recording = { try Recording(path: $0, progress: $1) }
    ) throws -> Recording {
        if path == defaultPath, !FileManager.default.fileExists(atPath: path) {
            throw CommandError(
                description: "there is no \(path) here. Name a recording, or record a program first: "
                    + "notify-demo record -- ./my-program")
        }
        defer { terminal.progressLine.clear() }
        let recording = try read(path) { terminal.progressLine.show("\($0) records read") }
        recording.reportProblems(on: terminal)
        return recording
    }
}

extension Recording {
    /// Reports the first problems of the recording's file, and what was not recorded, on standard error.
    func reportProblems(on terminal: Terminal) {
        let (maximum, source) = (5, ShownText.escaped(source))
        for problem in problems.prefix(maximum) { terminal.report("\(problem)") }
        let more = problemCount - min(problems.count, maximum)
        if more > 0 { terminal.report("\(source): \(more) more problems in this file") }
        for note in notes { terminal.report(note) }
        for unrecorded in unrecorded.prefix(maximum) {
            let process = processes[Int(unrecorded.process)]
            terminal.report("\(source): not recorded of \(Excerpt.of(process.name)): \(Excerpt.of(unrecorded.reason))")
        }
    }
}
