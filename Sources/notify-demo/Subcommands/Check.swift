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
            \(RuleForm.help)

            PLACE is main, or thread and the name or the number of a thread; without a place, each thread has its own \
            order. TIME has a unit, such as 16 ms. A name with spaces is written in double quotes, with JSON's escapes. \
            So is a notification that is called no, every, everything or each. The kinds of findings are listed by \
            'diagnose --kinds'. A file of rules has one on each line; text after # is a comment. The article \
            "Continuous integration" defines each rule.

            If records are missing, the rule "the recording is complete" fails too. With --rules -, the rules are read \
            from standard input. With --junit - or --sarif -, the report is printed, and nothing else.

            EXAMPLES
              notify-demo check --rule 'WindowWillClose on main'
              notify-demo check run.jsonl --rules rules.txt --rule 'no finding'
              notify-demo check --rules rules.txt --junit j.xml --sarif s.sarif
              notify-demo record --check rules.txt -- ./my-program

            EXIT STATUS
              0    all rules hold
              1    a rule fails
              2    the recording cannot be read
              64   a rule cannot be read
            """)

    @Argument(help: RecordingFile.help, completion: .file())
    var path = RecordingFile.defaultPath

    @Option(help: ArgumentHelp("A rule, such as 'Saved on main'. May be repeated.", valueName: "rule"))
    var rule: [String] = []

    @Option(
        help: ArgumentHelp("A file with a rule on each line. May be repeated.", valueName: "file"),
        completion: .file())
    var rules: [String] = []

    @OptionGroup var options: CheckOptions

    @Flag(help: "Print one JSON document.")
    var json = false

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    @OptionGroup var annotations: AnnotationOptions

    @OptionGroup(title: "Findings") var findings: DiagnosisOptions

    func validate() throws {
        if rule.isEmpty, rules.isEmpty {
            throw ValidationError("name a rule, for example --rule 'Saved on main', or a file of rules with --rules.")
        }
        if (rules + [path]).count(where: { $0 == "-" }) > 1 {
            throw ValidationError("standard input can be read only once. Name a file for the recording or the rules.")
        }
        try ValidationError.check { for text in rule { _ = try RuleParser.rule(argument: text, option: "--rule") } }
        try Output.check(
            (json ? [("--json", nil)] : []) + options.outputs,
            inputs: rules + [path] + [findings.accept].compactMap(\.self))
    }

    var annotatesErrors: Bool { annotations.areWanted }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let prepared = try PreparedCheck(rulesIn: rules, rule, options, findings, annotations, terminal)
        let recording: Recording
        do {
            // A rule says which records are missing.
            recording = try RecordingFile.read(path, terminal, reportsMissing: options.allowIncomplete)
        } catch let error as LogError where error.problem == LogError.noRecords {
            terminal.report("\(error)")
            recording = Recording(source: error.log)
        }
        return try prepared.perform(recording, path: path == "-" ? nil : path, terminal) { report in
            if json {
                try terminal.print(report.json())
            } else {
                try terminal.print(shown: terminal.palette.lines(of: report, on: .standardOutput))
            }
        }
    }
}
