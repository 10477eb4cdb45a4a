import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import TerminalText

struct Check: Command {
    static let configuration = CommandConfiguration(
        abstract: "Check rules about a recording, for continuous integration.",
        discussion: """
            A line tells for each rule whether it holds. A rule that fails has evidence: records of the file, and the \
            source locations of the post and of the registration if they are known.

            RULES
              NAME on PLACE, NAME not on PLACE, NAME observed, NAME delivered, NAME within 50 ms,
              NAME at most 3 waiting, at most 100 NAME per second, every post observed, everything delivered,
              NAME before NAME, each NAME before NAME, each of these also on PLACE,
              no handler longer than 16 ms, no handler on PLACE longer than 16 ms, no post longer than 5 ms,
              no observer left at exit, no finding, no problem, no wrongThread or another kind of 'diagnose --kinds'

            PLACE is main, or thread and the name or the number of a thread. A name with spaces is written in double \
            quotes. A file of rules has one on each line; text after # is a comment. The article "Continuous \
            integration" defines each rule.

            If records are missing, the rule "the recording is complete" fails too. With --rules -, the rules are read \
            from standard input. With --junit - or --sarif -, the report is printed, and nothing else.

            EXAMPLES
              notify-demo check --rule 'WindowWillClose on main'
              notify-demo check run.jsonl --rules rules.txt --rule 'no finding'
              notify-demo check --rules rules.txt --junit report.xml --sarif report.sarif
              notify-demo record --check rules.txt -- ./my-program

            EXIT STATUS
              0 all rules hold, 1 a rule fails, 2 the recording cannot be read, 64 a rule cannot be read
            """)

    @OptionGroup var file: RecordingFile

    @OptionGroup var options: CheckOptions

    @Flag(help: "Print one JSON document.")
    var json = false

    var color: ColorChoice { options.color }

    func validate() throws {
        if options.rule.isEmpty, options.rules.isEmpty {
            throw ValidationError("name a rule, for example --rule 'Saved on main', or a file of rules with --rules.")
        }
        if file.path == "-", options.rules.contains("-") {
            throw ValidationError("standard input can be read only once. Name a file for the recording or the rules.")
        }
        try Output.check((json ? [("--json", nil)] : []) + options.outputs, inputs: options.inputs + [file.path])
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let prepared = try options.prepare(terminal)
        let recording: Recording
        do {
            recording = try file.read(terminal)
        } catch let error as LogError where error.problem == LogError.noRecords {
            terminal.report("\(error)")
            recording = Recording([], source: error.log)
        }
        return try prepared.check(recording, path: file.path == "-" ? nil : file.path, terminal, json: json)
    }
}
