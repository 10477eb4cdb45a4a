import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import TerminalText

struct Check: Command {
    static let configuration = CommandConfiguration(
        abstract: "Check rules about a recording, for continuous integration.",
        discussion: """
            RULES
            \(rulesHelp)

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
            """)

    @Argument(help: RecordingFile.help, completion: .file())
    var path = RecordingFile.defaultPath

    @Option(help: ArgumentHelp("A rule, such as 'Saved on main'. May be repeated.", valueName: "rule"))
    var rule: [String] = []

    @Option(
        help: ArgumentHelp("A file with a rule on each line. May be repeated.", valueName: "file"),
        completion: .file())
    var rules: [String] = []

    @Option(
        help: ArgumentHelp("Also write the results as JUnit XML.", valueName: "file"),
        completion: .file(extensions: ["xml"]))
    var junit: String?

    @Option(
        help: ArgumentHelp("Also write the failures as SARIF 2.1.0, for code scanning.", valueName: "file"),
        completion: .file(extensions: ["sarif", "json"]))
    var sarif: String?

    @Flag(help: "Print one JSON document.")
    var json = false

    @OptionGroup var annotations: AnnotationOptions

    @OptionGroup(title: "Findings") var findings: DiagnosisOptions

    /// The options whose output is standard output; then nothing else is printed there.
    private var printed: [String] {
        [("--json", json ? "-" : nil), ("--junit", junit), ("--sarif", sarif)]
            .filter { $1.map(Output.isStandardOutput) == true }.map(\.0)
    }

    func validate() throws {
        if rule.isEmpty, rules.isEmpty {
            throw ValidationError("name a rule, for example --rule 'Saved on main', or a file of rules with --rules.")
        }
        if (rules + [path]).count(where: { $0 == "-" }) > 1 {
            throw ValidationError("standard input can be read only once. Name a file for the recording or the rules.")
        }
        if printed.count > 1 {
            throw ValidationError("\(printed[0]) and \(printed[1]) both write to standard output. Name a file.")
        }
        try ValidationError.check { _ = try DiagnosisOptions.rules(rule) }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let check = try findings.check(rulesIn: rules, rule)(RecordingFile.read(path, terminal))
        if json {
            try terminal.print(check.json())
        } else if printed.isEmpty {
            try terminal.print(shown: check.text(width: terminal.width, palette: terminal.palette) + [check.totals])
        }
        // The lines are printed even if a report cannot be written.
        try terminal.standardOutput.flush()
        annotations.annotate(check.findings, title: "notify-demo check", totals: check.totals, terminal)
        if let junit {
            try terminal.output(to: junit, reading: path).finish(check.junit())
        }
        if let sarif {
            let files = SourceFiles()
            let text = try check.sarif(
                version: NotifyDemo.configuration.version, recordingPath: path == "-" ? nil : path
            ) { files.path($0) ?? $0 }
            try terminal.output(to: sarif, reading: path).finish(text)
        }
        return findings.status(isGood: check.holds, unused: check.unusedAccepted, terminal)
    }
}
