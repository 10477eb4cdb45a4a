import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import Scenarios

extension ReferenceLog: ExpressibleByArgument {}

struct Compare: Command {
    static let configuration = CommandConfiguration(
        abstract: "Compare two runs by cause and effect, or a run with a log of the documents.",
        discussion: """
            A run is a recording (record, or run SCENARIO -o FILE) or a text log: lines in NSLog's format, or comments \
            that begin with #:
              \("2016-02-13 22:05:12.856 test[865:45102] current thread = {number = 1, name = main}")
            It is a file, or - for standard input.

            Two recordings are the same if events that cause one another have the same order: the actions of each \
            thread, and on each thread the work that one other thread handed to it. Work from several threads may \
            interleave in any way. Threads are matched by name, unnamed ones by their actions, and those of a pool of \
            Dispatch stand for one another. Numbers of posts, \
            observers, threads and processes, addresses (0x and at least 9 digits) and times are ignored; of senders \
            only the types are compared. Also ignored are signals, drains, whether a wait had to wait, and how many \
            handlers run while an observer is removed, because they depend on chance.

            Whether a notification is coalesced or dropped by an overflow policy depends on chance too. Such \
            notifications may have another outcome in the other run, but each that has an outcome in one run must have \
            one in the other, deliveries must be in the same order, and the last notification of keepLatest and \
            dropOldest must be delivered.

            A text log does not contain causes, so only the order of each thread's messages is compared. A recording \
            that is compared with a text log is reduced to its log messages. Blank lines are ignored. A line in \
            another format continues the message before it. --skip-other-lines is for the combined output of a program: \
            it skips and counts such lines, except indented ones.

            --name and --thread compare a part of two recordings.

            EXAMPLES
              notify-demo compare yesterday.jsonl today.jsonl
              notify-demo compare --ignore Tick --differences 1 yesterday.jsonl today.jsonl
              ./my-program 2>&1 >/dev/null | notify-demo compare expected.log -
              notify-demo run posting-thread | notify-demo compare --reference listing-1 -
              notify-demo compare --exact --json a.jsonl b.jsonl

            EXIT STATUS
              0 the same, 1 different, 2 a run cannot be read, or the comparison is undecided: it took too long, or \
            everything that an incomplete recording has is the same
            """)

    @Option(help: "A log of the documents to compare with.")
    var reference: ReferenceLog?

    @Flag(help: "Compare all records, or all messages, in the order of the files.")
    var exact = false

    @Option(help: "Do not compare notifications with this name, nor what their handlers do. May be repeated.")
    var ignore: [String] = []

    @Option(help: "Compare only notifications with this name.")
    var name: String?

    @Option(help: "Compare only what happens on this thread or is for it: its name or number.")
    var thread: String?

    @Option(help: "The largest number of differences to show. Later ones may be consequences of the first.")
    var differences = 5

    @Flag(help: "Skip lines of a text log that are neither in its format nor indented.")
    var skipOtherLines = false

    @Flag(help: "Print the outcome as one JSON object: outcome, and of each difference the reason and both sides.")
    var json = false

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    @Argument(help: "Two runs, or one with --reference.", completion: .file())
    var runs: [String]

    func validate() throws {
        if reference == nil, runs.count != 2 {
            throw ValidationError(
                "expected two runs, got \(runs.count). To compare with a log of the documents, use --reference.")
        }
        if reference != nil, runs.count != 1 {
            throw ValidationError("expected one run with --reference, got \(runs.count).")
        }
        if runs == ["-", "-"] {
            throw ValidationError("standard input can be read only once. Name a file for one of the two runs.")
        }
        if differences < 1 { throw ValidationError("--differences must be at least 1.") }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        var inputs: [ComparisonInput] = try reference.map { [.log(try TextLog($0))] } ?? []
        for run in runs {
            inputs.append(
                try ComparisonInput(path: run) { count in terminal.show(progress: "\(count) lines of \(run) read") })
        }
        for case .recording(let recording) in inputs { recording.reportProblems(on: terminal) }
        var options = RunComparison.Options()
        options.isExact = exact
        options.ignored = Set(ignore)
        options.maximumDifferences = differences
        options.skipsOtherLines = skipOtherLines
        if name != nil || thread != nil {
            try options.select(RecordingFilter(name: name, thread: thread), of: inputs[0], inputs[1])
        }
        let comparison = RunComparison(inputs[0], inputs[1], options: options) { count in
            terminal.show(progress: "\(count) records are the same")
        }
        for case (.log(let log), let skipped) in zip(inputs, comparison.skippedLines) where skipped > 0 {
            terminal.report("\(log.name): skipped \(counted(skipped, "line")) in another format")
        }
        let report = ComparisonReport(
            comparison.outcome, maximumDifferences: differences, isLog: !inputs.contains(where: \.isRecording))
        let (status, text): (ExitStatus, String) =
            switch comparison.outcome {
            case .same: (.success, terminal.palette.good(report.description))
            case .different: (.failed, terminal.palette.bad(report.description))
            case .truncated, .undecided: (.error, terminal.palette.plain(report.description))
            }
        if json { try terminal.print(JSONText.of(report)) }
        if case .undecided = comparison.outcome {
            terminal.say("notify-demo: \(report.description)")
        } else if !json {
            try terminal.print(shown: [text])
        }
        return status
    }
}
