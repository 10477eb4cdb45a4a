import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import Foundation
import SystemPackage

struct Trace: Command {
    static let configuration = CommandConfiguration(
        abstract: "Write a recording as a trace that Perfetto and Chrome show.",
        discussion: """
            The trace has a track for each thread, with slices for posts, drains, handlers and waits; arrows from post \
            to append to delivery; and a counter for each mailbox and posting queue. A selected slice shows its post, \
            its observer, their source locations and its waiting time. The trace is JSON in the trace event format. \
            The page below processes it on this computer and does not upload it.

            EXAMPLES
              notify-demo run flood -o run.jsonl
              notify-demo trace run.jsonl -o trace.json
                then open trace.json in https://ui.perfetto.dev, or in chrome://tracing
              notify-demo trace run.jsonl | gzip > trace.json.gz

            EXIT STATUS
              0 success, 2 the recording cannot be read or the trace cannot be written
            """)

    @OptionGroup var input: RecordingArgument

    @Option(name: .shortAndLong, help: "The file to write to. Default, and -: standard output.", completion: .file())
    var output: String?

    func validate() throws {
        try input.check(output: output, called: "trace")
    }

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        let recording = try input.read(for: "trace", terminal)
        let progress = ProgressLine("trace")
        defer { progress.clear() }
        let total = recording.entries.count
        // Output on a terminal shows the progress itself, and would share its line.
        let showsProgress = output != nil || isatty(FileDescriptor.standardOutput.rawValue) != 1
        func show(_ written: Int) {
            if showsProgress { progress.show("\(written * 100 / max(1, total)) % written") }
        }
        guard let output, !OutputDestination.isStandardOutput(output) else {
            try ChromeTrace.write(recording, progress: show) { try terminal.print($0) }
            return .success
        }
        let file = try OutputFile(output)
        let events = try ChromeTrace.write(recording, progress: show) { try file.write($0) }
        try file.finish()
        progress.clear()
        terminal.say("\(events) events written to \(output); open it in https://ui.perfetto.dev")
        return .success
    }
}
