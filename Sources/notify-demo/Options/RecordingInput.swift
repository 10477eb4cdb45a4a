import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording

/// The recording that a command reads, and the part of it that it shows.
struct RecordingInput: ParsableArguments {
    @OptionGroup var file: RecordingFile

    @OptionGroup(title: "Selection") var selection: SelectionOptions

    var path: String { file.path }

    /// Rejects an output file that is the recording itself; nil is standard output.
    func check(output: String?, called name: String) throws {
        if let output, Output.wouldOverwrite(path, byWriting: output) {
            throw ValidationError("the \(name) would overwrite the recording. Name another file with -o.")
        }
    }

    /// Reads the recording, and reports its first problems on standard error.
    ///
    /// - Throws: also if the recording does not contain what the options select.
    func read(_ terminal: Terminal) throws -> (recording: Recording, selection: RecordingSelection) {
        let recording = try file.read(terminal)
        return (recording, try RecordingSelection(selection.filter, of: recording))
    }
}
