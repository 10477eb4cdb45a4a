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
              notify-demo run flood --seed 1 -o 1.jsonl
              notify-demo run flood --seed 2 -o 2.jsonl
              notify-demo compare 1.jsonl 2.jsonl
              notify-demo compare --good 1.jsonl --bad 2.jsonl
              notify-demo run posting-thread > a.log
              notify-demo compare --reference listing-1 a.log
              notify-demo compare --mask '[0-9]+ ms' a.log a.log

            EXIT STATUS
              0 the same
              1 different
              2 a run cannot be read, or the comparison is undecided: threads are too similar, everything that an \
            incomplete recording has is the same, or no fact is true of all bad runs and of no good run
            """)

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Runs that went well, to compare with bad ones.", valueName: "file"), completion: .file())
    var good: [String] = []

    @Option(
        parsing: .upToNextOption, help: ArgumentHelp("Runs that went wrong.", valueName: "file"), completion: .file())
    var bad: [String] = []

    @Option(help: "A log of the documents to compare with.")
    var reference: ReferenceLog?

    @Option(help: "Do not compare notifications with this name, nor what their handlers do. May be repeated.")
    var ignore: [String] = []

    @Option(help: "Compare only notifications with this name.")
    var name: String?

    @Option(help: "Compare only what happens on this thread or is for it: its name or number.")
    var thread: String?

    @Option(help: "The largest number of differences to show. Later ones may be consequences of the first.")
    var differences = 5

    @OptionGroup(title: "Text logs")
    var text: TextLogOptions

    @Flag(help: "Print the outcome as one JSON object: outcome, and of each difference the reason and both sides.")
    var json = false

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    @Argument(help: "Two runs, or one with --reference.", completion: .file())
    var runs: [String] = []

    private var areMany: Bool { !good.isEmpty || !bad.isEmpty }

    /// The first option that was given of those for two recordings; nil if none was.
    private var recordingOption: String? {
        [("--ignore", !ignore.isEmpty), ("--name", name != nil), ("--thread", thread != nil)].first(where: \.1)?.0
    }

    func validate() throws {
        let useless = areMany ? reference.map { _ in "--reference" } ?? recordingOption : nil
        let wrong: String? =
            if differences < 1 {
                "--differences must be at least 1."
            } else if areMany, good.isEmpty || bad.isEmpty {
                "--good and --bad need each other. Name at least one file after \(good.isEmpty ? "--good" : "--bad")."
            } else if areMany, let run = runs.first {
                "\"\(run)\" is neither a good nor a bad run. Name it after --good or --bad."
            } else if let useless {
                "\(useless) is for two runs. Leave it out with --good and --bad."
            } else if reference != nil, runs.count != 1 {
                "expected one run with --reference, got \(runs.count)."
            } else if !areMany, reference == nil, runs.count != 2 {
                "expected two runs, got \(runs.count). To compare with a log of the documents, use --reference."
            } else if (good + bad + runs).count(where: { $0 == "-" }) > 1 {
                "standard input can be read only once. Name a file for each other run."
            } else {
                nil
            }
        if let wrong { throw ValidationError(wrong) }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        do {
            return try areMany ? compareMany(terminal) : compareTwo(terminal)
        } catch let refusal as LogPattern.Refusal {
            throw ValidationError(refusal.description)
        }
    }

    private func compareMany(_ terminal: Terminal) throws -> ExitStatus {
        let all = try read(good + bad, terminal)
        let report = try ManyRunsReport(
            good: Array(all.prefix(good.count)), bad: Array(all.dropFirst(good.count)), pools: text.pool,
            maximumAnswers: differences)
        let style = report.isDecided ? terminal.palette.bad : terminal.palette.plain
        try json ? terminal.print(JSONText.of(report)) : terminal.print(shown: [style(report.description)])
        return report.isDecided ? .failed : .error
    }

    private func compareTwo(_ terminal: Terminal) throws -> ExitStatus {
        let comparison = try compare(read(runs, terminal), terminal)
        let (status, style): (ExitStatus, (String) -> String) =
            switch comparison.outcome {
            case .same: (.success, terminal.palette.good)
            case .different: (.failed, terminal.palette.bad)
            case .undecided: (.error, terminal.palette.plain)
            }
        try json ? terminal.print(JSONText.of(comparison)) : terminal.print(shown: [style(comparison.description)])
        return status
    }

    private func read(_ runs: [String], _ terminal: Terminal) throws -> [ComparisonInput] {
        let options = try text.options()
        // Of many runs, the form of the first one, and others.
        var said: Set<String> = []
        let inputs = try runs.map { run in
            let input = try ComparisonInput(path: run, options: options) { count in
                terminal.show(progress: "\(count) lines of \(run) read")
            }
            switch input {
            case .recording(let recording): recording.reportProblems(on: terminal)
            case .log(let log):
                if text.form == nil, let form = log.form, said.insert(form.name).inserted || !areMany {
                    terminal.report("\(log.name) is read as \(form.name)")
                }
            }
            return input
        }
        let areRecordings = inputs.allSatisfy { if case .recording = $0 { true } else { false } }
        if areRecordings, reference == nil, let option = text.given {
            throw CommandError(description: "\(option) is for text logs. Leave it out.")
        }
        return inputs
    }

    private func compare(_ inputs: [ComparisonInput], _ terminal: Terminal) throws -> RunComparison {
        let inputs = try (reference.map { [.log(try TextLog($0))] } ?? []) + inputs
        var options = RunComparison.Options()
        (options.ignored, options.maximumDifferences, options.pools) = (Set(ignore), differences, text.pool)
        if case .recording(let first) = inputs[0], case .recording(let second) = inputs[1] {
            for name in ignore {
                // As for --name, one of the recordings must have the name.
                var named = options
                try named.select(RecordingFilter(name: name), of: first, second)
            }
            let filter = RecordingFilter(name: name, thread: thread)
            if !filter.isEmpty { try options.select(filter, of: first, second) }
            terminal.show(progress: "\(first.entries.count) and \(second.entries.count) records are compared")
            return RunComparison(first, second, options: options)
        }
        if let option = recordingOption {
            for case .log(let log) in inputs {
                throw CommandError(
                    description: "\(option) is for recordings, and \(ShownText.escaped(log.name)) is a text log. "
                        + "Leave it out.")
            }
        }
        return try RunComparison(inputs[0].log(), inputs[1].log(), options: options)
    }
}
