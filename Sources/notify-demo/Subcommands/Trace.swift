import ArgumentParser
import DeliveryDiagnostics
import Foundation
import SystemPackage

struct Trace: Command {
    static let configuration = CommandConfiguration(
        abstract: "Write a recording as a trace that Perfetto and Chrome show.",
        discussion: """
            A track for each thread, with slices for posts, drains, handlers and waits; arrows from post over append to \
            delivery; a counter of what waits in each mailbox and posting queue. What selects a slice tells its post, \
            its observer, their places in the source and how long it waited. The trace is JSON in the trace event \
            format; nothing of it leaves this computer, also not with the page below.

            EXAMPLES
              notify-demo run flood -o run.jsonl
              notify-demo trace run.jsonl -o trace.json
                then open trace.json in https://ui.perfetto.dev, or in chrome://tracing
              notify-demo trace run.jsonl | gzip > trace.json.gz

            EXIT STATUS
              0 written, 2 the recording cannot be read or the trace cannot be written
            """)

    @OptionGroup var input: RecordingArgument

    @Option(name: .shortAndLong, help: "Where to write the trace; - or without, standard output.", completion: .file())
    var output: String?

    func validate() throws {
        try input.check(output: output, called: "trace")
    }

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        let recording = try input.read(for: "trace", terminal)
        let progress = ProgressLine("trace")
        defer { progress.clear() }
        let total = recording.entries.count
        // What is printed on a terminal is progress enough, and shares its lines.
        let showsProgress = output != nil || isatty(FileDescriptor.standardOutput.rawValue) != 1
        func show(_ written: Int) {
            if showsProgress { progress.show("\(written * 100 / max(1, total)) % written") }
        }
        guard let output, !OutputDestination.isStandardOutput(output) else {
            try ChromeTrace.write(recording, progress: show) { try terminal.print($0) }
            return .good
        }
        let file = try OutputFile(output)
        let events = try ChromeTrace.write(recording, progress: show) { try file.write($0) }
        try file.finish()
        progress.clear()
        terminal.say("\(events) events written to \(output); open it in https://ui.perfetto.dev")
        return .good
    }
}
