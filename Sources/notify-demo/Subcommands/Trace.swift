import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording

struct Trace: Command {
    static let configuration = CommandConfiguration(
        abstract: "Write a recording as a trace that Perfetto and Chrome show.",
        discussion: """
            The trace has a track for each thread, with spans for posts, handlers and waits, and an arrow from each \
            post to its handlers. It is JSON in the trace event format, which https://ui.perfetto.dev and \
            chrome://tracing open. They do not upload it.

            EXAMPLES
              notify-demo trace run.jsonl | gzip > trace.json.gz
            """)

    @Argument(help: RecordingFile.help, completion: .file())
    var path = RecordingFile.defaultPath

    @OptionGroup(title: "Selection") var selected: SelectionOptions

    @Option(name: .shortAndLong, help: "The file to write to. Default, and -: standard output.", completion: .file())
    var output: String?

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let (index, selection) = try selected.read(path, terminal)
        let trace = try terminal.output(to: output, reading: path)
        try ChromeTrace.write(index, selection, to: trace.write)
        try trace.finish()
        return .success
    }
}
