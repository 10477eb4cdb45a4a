import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import TerminalText

/// The rules that a command checks, and how it reports their results.
struct CheckOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A rule, such as 'Saved on main'. May be repeated.", valueName: "rule"))
    var rule: [String] = []

    @Option(
        help: ArgumentHelp("A file with a rule on each line. May be repeated.", valueName: "file"),
        completion: .file())
    var rules: [String] = []

    @Flag(help: "Report a recording with missing records, without a failure of its own.")
    var allowIncomplete = false

    @Option(
        help: ArgumentHelp("Also write the results as JUnit XML.", valueName: "file"),
        completion: .file(extensions: ["xml"]))
    var junit: String?

    @Option(
        help: ArgumentHelp("Also write the failures as SARIF 2.1.0, for code scanning.", valueName: "file"),
        completion: .file(extensions: ["sarif", "json"]))
    var sarif: String?

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    @OptionGroup var annotations: AnnotationOptions

    @OptionGroup(title: "Findings") var findings: DiagnosisOptions

    /// The files to write, with their options.
    var outputs: [(option: String, path: String?)] {
        [("--junit", junit), ("--sarif", sarif)].filter { $0.1 != nil }
    }

    /// The files to read.
    var inputs: [String] { rules + [findings.accept].compactMap(\.self) }

    /// True if a report is printed on standard output; nothing else is printed there then.
    var printsReport: Bool { outputs.contains { $0.path.map(Output.isStandardOutput) ?? false } }

    /// True if there is an option that has no effect without rules.
    var needsRules: Bool {
        !outputs.isEmpty || allowIncomplete || findings.accept != nil || findings.limits != DiagnosisLimits()
            || annotations.annotations != .auto
    }

    func validate() throws {
        if rules.count(where: { $0 == "-" }) > 1 {
            throw ValidationError("standard input can be read only once. Name a file for one of the --rules.")
        }
        try ValidationError.check { for text in rule { _ = try RuleParser.rule(argument: text, option: "--rule") } }
    }

    /// The rules and the files, which are read and opened before there is a recording, so that an error is reported at
    /// once.
    struct Prepared {
        let options: CheckOptions
        let rules: [Rule]
        let accepted: AcceptedFindings
        let junit: Output?
        let sarif: Output?
    }

    /// Reads the rules: those of the files, then the others.
    ///
    /// - Parameter files: files of rules before those of the options.
    /// - Throws: `LogError` for a file that cannot be read, `ValidationError` for rules that cannot.
    func prepare(_ terminal: Terminal, rulesIn files: [String] = []) throws -> Prepared {
        var (rules, errors): ([Rule], [RuleError]) = ([], [])
        var unread: LogError?
        for path in files + self.rules {
            do {
                rules += try RuleFile.rules(try RuleFile.text(path: path), path: path)
            } catch let error as RuleErrors {
                errors += error.errors
            } catch let error as LogError {
                unread = unread ?? error
            }
        }
        // A usage error comes before other errors.
        if !errors.isEmpty { throw ValidationError("\(RuleErrors(errors))") }
        if let unread { throw unread }
        rules += try rule.map { try RuleParser.rule(argument: $0, option: "--rule") }
        return Prepared(
            options: self, rules: rules, accepted: try findings.accepted,
            junit: try junit.map(terminal.output), sarif: try sarif.map(terminal.output))
    }
}

extension CheckOptions.Prepared {
    /// Checks the rules, and prints and writes the results.
    ///
    /// - Parameters:
    ///   - path: the file of the recording; nil for standard input.
    ///   - areMessages: true to print the results on standard error.
    func check(
        _ recording: Recording, path: String?, _ terminal: Terminal, json: Bool = false, areMessages: Bool = false
    ) throws -> ExitStatus {
        let check = RuleCheck(
            rules, RecordingIndex(recording), limits: options.findings.limits, accepted: accepted,
            allowsIncomplete: options.allowIncomplete)
        let report = RuleReport(check)
        if areMessages {
            for line in terminal.lines(of: report, isMessage: true) { terminal.say(shown: line) }
        } else if json {
            try terminal.print(report.json())
        } else if !options.printsReport {
            try terminal.print(shown: terminal.lines(of: report))
        }
        // The lines are printed even if a report cannot be written.
        try terminal.standardOutput.flush()
        options.annotations.annotate(
            report.findings, title: "notify-demo check", totals: report.totals, terminal)
        try junit?.print(JUnitReport.text("notify-demo check", of: [report.suite]))
        try junit?.finish()
        if let sarif {
            let report = SARIFReport(
                check, version: NotifyDemo.configuration.version, recordingPath: path, path: SourceFiles().path)
            try sarif.print(report.text())
            try sarif.finish()
        }
        let isUnused = options.findings.failsForUnused(check.unusedAccepted ?? [], terminal)
        return check.holds && !isUnused ? .success : .failed
    }
}
