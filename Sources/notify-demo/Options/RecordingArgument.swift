import ArgumentParser
import DeliveryDiagnostics
import Foundation

/// The recording that a command reads.
struct RecordingArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("A recording, or - for standard input.", valueName: "recording"), completion: .file())
    var path: String

    /// Refuses an output that would take the recording's place.
    ///
    /// - Parameters:
    ///   - output: where the command writes; nil for standard output.
    ///   - name: what it writes, as the message calls it.
    /// - Throws: `ValidationError`.
    func check(output: String?, called name: String) throws {
        if let output, OutputDestination.wouldReplace(path, byWriting: output) {
            throw ValidationError("the \(name) would take the place of the recording: give another file to -o.")
        }
    }

    /// Reads it, and says on standard error what is wrong with it.
    func read(for command: String, _ terminal: Terminal) throws -> Recording {
        let progress = ProgressLine(command)
        defer { progress.clear() }
        let recording = try Recording(path: path) { progress.show("\($0) records read") }
        progress.clear()
        terminal.sayProblems(of: recording)
        return recording
    }
}
