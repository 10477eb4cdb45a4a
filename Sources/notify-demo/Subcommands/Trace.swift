import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording

struct Trace: Command {
    static let configuration = CommandConfiguration(
        abstract: "Write a recording as a trace that Perfetto and Chrome show.",
        discussion: """
            The trace has a track for each thread, with spans for posts, handlers and waits, and an arrow from each \
            post to its handlers. A selected span shows its post, its observer, their source locations and the time \
            since the post. The trace is JSON in the trace event format. The page below processes it on this computer \
            and does not upload it.

            EXAMPLES
              notify-demo run flood -o run.jsonl; notify-demo trace run.jsonl -o trace.json
                then open trace.json in https://ui.perfetto.dev, or in chrome://tracing
              notify-demo trace run.jsonl | gzip > trace.json.gz

            EXIT STATUS
              0 success, 2 the recording cannot be read or the trace cannot be written
            """)

    @OptionGroup var input: RecordingInput

    @Option(name: .shortAndLong, help: "The file to write to. Default, and -: standard output.", completion: .file())
    var output: String?

    func validate() throws { try input.check(output: output, called: "trace") }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let (recording, selection) = try input.read(terminal)
        let total = max(1, recording.entries.count)
        let trace = try terminal.output(to: output)
        let events = try ChromeTrace.write(RecordingIndex(recording), selection) { written in
            terminal.show(progress: "\(written * 100 / total) % written")
        } to: {
            try trace.write($0)
        }
        try trace.finish()
        if let output, !trace.isStandardOutput {
            terminal.say("\(events) events written to \(output); open it in https://ui.perfetto.dev")
        }
        return .success
    }
}
