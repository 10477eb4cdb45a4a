import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import Foundation

/// The recording that a subcommand reads.
struct RecordingArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp("A recording, or - for standard input.", valueName: "recording"), completion: .file())
    var path: String

    /// Rejects an output file that is the recording itself.
    ///
    /// - Parameters:
    ///   - output: the path to write to; nil means standard output.
    ///   - name: the name of the output in the message.
    /// - Throws: `ValidationError`.
    func check(output: String?, called name: String) throws {
        if let output, OutputDestination.wouldReplace(path, byWriting: output) {
            throw ValidationError("the \(name) would overwrite the recording. Name another file with -o.")
        }
    }

    /// Reads the recording, and reports its problems on standard error.
    func read(for command: String, _ terminal: Terminal) throws -> Recording {
        let progress = ProgressLine(command)
        defer { progress.clear() }
        let recording = try Recording(path: path) { progress.show("\($0) records read") }
        progress.clear()
        terminal.sayProblems(of: recording)
        return recording
    }
}
