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

            The form of a text log is recognised from its first lines and said on standard error: \
            \(LogForm.names.joined(separator: ", ")). For every other there is --form.

            With --good and --bad, the facts are shown that are true of all bad runs and of no good run, or the reverse.

            EXAMPLES
              notify-demo compare 1.jsonl 2.jsonl
              notify-demo compare --good 1.jsonl --bad 2.jsonl
              notify-demo compare --mask '[0-9]+ ms' a.log b.log

            The status is 2 also if the comparison is undecided.
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

    @Option(help: "In recordings, do not compare notifications with this name, nor what follows. May be repeated.")
    var ignore: [String] = []

    @Option(help: "The largest number of differences to show. Later ones may be consequences of the first.")
    var differences = RunComparison.usualMaximum

    @OptionGroup(title: "Text logs")
    var text: TextLogOptions

    @Flag(help: "Print the outcome as one JSON object: outcome, and of each difference the reason and both sides.")
    var json = false

    @Argument(help: "Two runs, or one with --reference.", completion: .file())
    var runs: [String] = []

    private var areMany: Bool { !good.isEmpty || !bad.isEmpty }

    func validate() throws {
        try ValidationError.check("--differences", differences, from: 1, to: .max)
        let expected = areMany ? 0 : reference == nil ? 2 : 1
        if areMany, good.isEmpty || bad.isEmpty {
            throw ValidationError("--good and --bad need each other. Name at least one file after each.")
        }
        if areMany, reference != nil || !ignore.isEmpty {
            throw ValidationError("--reference and --ignore are for two runs. Leave them out with --good and --bad.")
        }
        if runs.count != expected {
            throw ValidationError(
                "expected two runs, one with --reference, or only those after --good and --bad; got \(runs.count).")
        }
        if (good + bad + runs).count(where: { $0 == "-" }) > 1 {
            throw ValidationError("standard input can be read only once. Name a file for each other run.")
        }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        terminal.progressLine.showWhenDue("reading and comparing")
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
        let inputs = try (reference.map { [.log(try TextLog($0))] } ?? []) + read(runs, terminal)
        let (recordings, logs) = try ComparisonInput.split(inputs)
        // One of them must have the name.
        for name in recordings.isEmpty ? [] : ignore where (try? recordings[0].index(ofName: name)) == nil {
            _ = try recordings[1].index(ofName: name)
        }
        let comparison =
            try recordings.isEmpty
            ? RunComparison(logs[0], logs[1], pools: text.pool, maximum: differences)
            : RunComparison(recordings[0], recordings[1], ignored: Set(ignore), maximum: differences)
        let palette = terminal.palette
        let (status, style): (ExitStatus, (String) -> String) =
            switch comparison.outcome {
            case .same: (.success, palette.good)
            case .different: (.failed, palette.bad)
            case .undecided: (.error, palette.plain)
            }
        try json ? terminal.print(JSONText.of(comparison)) : terminal.print(shown: [style(comparison.description)])
        return status
    }

    private func read(_ runs: [String], _ terminal: Terminal) throws -> [ComparisonInput] {
        let options = try text.options()
        // Of many runs, the form of the first one, and others.
        var said: Set<String> = []
        return try runs.map { run in
            let input = try ComparisonInput(path: run, options: options)
            switch input {
            case .recording(let recording): recording.reportProblems(on: terminal)
            case .log(let log):
                if text.form == nil, said.insert(log.form.name).inserted || !areMany {
                    terminal.report("\(log.name) is read as \(log.form.name)")
                }
            }
            return input
        }
    }
}
