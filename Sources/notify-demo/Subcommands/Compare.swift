import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import Scenarios
import TerminalText

extension ReferenceLog: ExpressibleByArgument {}

struct Compare: Command {
    static let configuration = CommandConfiguration(
        abstract: "Compare two runs by cause and effect, or a run with a log of the documents.",
        discussion: """
            A run is a recording (record, or run SCENARIO -o FILE) or a text log in which each line names its thread. It \
            is a file, or - for standard input. Two runs are the same if each thread did the same, apart from chance; the \
            article "Comparing runs" says what depends on chance.

            TEXT LOGS
            The form of a log is recognised from its first lines and said on standard error: \
            \(LogForm.names.joined(separator: ", ")). For every other there is --form. The lines of each thread are \
            compared in order. Threads with names that differ only in a number at the end are a pool: their lines are \
            compared without order. Times and addresses are ignored, and ids are renamed.

            MANY RUNS
            With --good and --bad, the facts that are true of all bad runs and of no good run, or the reverse, the best \
            first. If there is none, the largest differences of rates are shown, and the status is 2.

            EXAMPLES
              notify-demo compare yesterday.jsonl today.jsonl
              notify-demo compare --ignore Tick --differences 1 yesterday.jsonl today.jsonl
              ./my-program 2>&1 >/dev/null | notify-demo compare expected.log -
              notify-demo compare --mask 'took [0-9]+ ms' --pool http --unit ' GET ' good.log bad.log
              notify-demo compare --form '(?<time>\\S+) <(?<thread>\\d+)> (?<text>.*)' good.log bad.log
              notify-demo run posting-thread | notify-demo compare --reference listing-1 -
              notify-demo compare --exact --json a.jsonl b.jsonl
              notify-demo compare --good good-*.jsonl --bad bad-*.jsonl

            EXIT STATUS
              0 the same, 1 different, 2 a run cannot be read, or the comparison is undecided: threads are too similar, \
            or everything that an incomplete recording has is the same, or no fact is true of all bad runs and of no good run
            """)

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Runs that went well, to compare with bad ones.", valueName: "file"),
        completion: .file())
    var good: [String] = []

    @Option(
        parsing: .upToNextOption, help: ArgumentHelp("Runs that went wrong.", valueName: "file"), completion: .file())
    var bad: [String] = []

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

    @Option(
        help: ArgumentHelp(
            "The form of text logs: a name, or a regular expression for a line with the groups text and thread or chain; "
                + "optionally name, time, process and level.", valueName: "form"))
    var form: String?

    @Option(
        help: ArgumentHelp(
            "Threads with such names, or ids, stand for one another. May be repeated.", valueName: "regex"))
    var pool: [String] = []

    @Option(
        help: ArgumentHelp("The lines that begin a run of work of a pool. Its order is compared.", valueName: "regex"))
    var unit: String?

    @Option(
        help: ArgumentHelp(
            "Do not compare what this matches in lines of text logs. May be repeated.", valueName: "regex"))
    var mask: [String] = []

    @Option(help: ArgumentHelp("Compare text logs from the first line in which this matches.", valueName: "regex"))
    var fromLine: String?

    @Flag(help: "Skip lines of a text log that are neither in its form nor indented.")
    var skipOtherLines = false

    @Flag(help: "Print the outcome as one JSON object: outcome, and of each difference the reason and both sides.")
    var json = false

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    @Argument(help: "Two runs, or one with --reference.", completion: .file())
    var runs: [String] = []

    private var areMany: Bool { !good.isEmpty || !bad.isEmpty }

    func validate() throws {
        if differences < 1 { throw ValidationError("--differences must be at least 1.") }
        if areMany { return try validateMany() }
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
    }

    private func validateMany() throws {
        if good.isEmpty || bad.isEmpty {
            throw ValidationError(
                "--good and --bad need each other. Name at least one file after \(good.isEmpty ? "--good" : "--bad").")
        }
        if let run = runs.first {
            throw ValidationError("\"\(run)\" is neither a good nor a bad run. Name it after --good or --bad.")
        }
        let useless = [
            ("--reference", reference != nil), ("--exact", exact), ("--ignore", !ignore.isEmpty),
            ("--name", name != nil), ("--thread", thread != nil),
        ]
        if let (option, _) = useless.first(where: \.1) {
            throw ValidationError("\(option) is for two runs. Leave it out with --good and --bad.")
        }
        if (good + bad).count(where: { $0 == "-" }) > 1 {
            throw ValidationError("standard input can be read only once. Name a file for each other run.")
        }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        do {
            if areMany { return try compareMany(terminal) }
            let (report, status) = try compare(inputs(terminal), terminal)
            if json { try terminal.print(JSONText.of(report)) }
            let isUndecided = status == .error && !report.isTruncated
            if isUndecided {
                terminal.say("notify-demo: \(report.description)")
            } else if !json {
                let text: String =
                    switch status {
                    case .success: terminal.palette.good(report.description)
                    case .failed: terminal.palette.bad(report.description)
                    case .error: terminal.palette.plain(report.description)
                    }
                try terminal.print(shown: [text])
            }
            return status
        } catch let refusal as LogPattern.Refusal {
            throw ValidationError(refusal.description)
        }
    }

    private func compareMany(_ terminal: Terminal) throws -> ExitStatus {
        let good = try read(good, terminal)
        let report = try ManyRunsReport(
            good: good, bad: read(bad, terminal), pools: pool, maximumAnswers: differences)
        if json {
            try terminal.print(JSONText.of(report))
        } else {
            let palette = terminal.palette
            try terminal.print(
                shown: [report.isDecided ? palette.bad(report.description) : palette.plain(report.description)])
        }
        return report.isDecided ? .failed : .error
    }

    private func inputs(_ terminal: Terminal) throws -> [ComparisonInput] {
        try (reference.map { [.log(try TextLog($0))] } ?? []) + read(runs, terminal)
    }

    private func read(_ runs: [String], _ terminal: Terminal) throws -> [ComparisonInput] {
        var options = TextLog.Options()
        if let form { options.forms = try LogForm.named(form) }
        (options.masks, options.fromLine, options.unit) = (mask, fromLine, unit)
        options.skipsOtherLines = skipOtherLines
        // Of many runs, the form of the first one, and others.
        var said: Set<String> = []
        return try runs.map { run in
            let input = try ComparisonInput(path: run, options: options) { count in
                terminal.show(progress: "\(count) lines of \(run) read")
            }
            switch input {
            case .recording(let recording): recording.reportProblems(on: terminal)
            case .log(let log):
                if form == nil, let form = log.form, !areMany || said.insert(form.name).inserted {
                    terminal.report("\(log.name) is read as \(form.name)")
                }
            }
            return input
        }
    }

    private func compare(
        _ inputs: [ComparisonInput], _ terminal: Terminal
    ) throws -> (ComparisonReport, ExitStatus) {
        var options = RunComparison.Options()
        (options.isExact, options.ignored, options.maximumDifferences) = (exact, Set(ignore), differences)
        options.pools = pool
        let filter = RecordingFilter(name: name, thread: thread)
        let comparison: RunComparison
        if case .recording(let first) = inputs[0], case .recording(let second) = inputs[1] {
            if !filter.isEmpty { try options.select(filter, of: first, second) }
            terminal.show(progress: "\(first.entries.count) and \(second.entries.count) records are compared")
            comparison = RunComparison(first, second, options: options)
        } else {
            for case .log(let log) in inputs where !filter.isEmpty {
                throw CommandError(
                    description: "\(log.name): is a text log, which has no names of notifications. Compare it without "
                        + "--name and --thread.")
            }
            comparison = try RunComparison(inputs[0].log(), inputs[1].log(), options: options)
        }
        let status: ExitStatus =
            switch comparison.outcome {
            case .same: .success
            case .different: .failed
            case .truncated, .undecided: .error
            }
        return (ComparisonReport(comparison, maximumDifferences: differences), status)
    }
}
