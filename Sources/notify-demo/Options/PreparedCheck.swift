import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording
import TerminalText

/// How the results of rules are reported.
struct CheckOptions: ParsableArguments {
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

    /// The files to write, with their options.
    var outputs: [(option: String, path: String?)] {
        [("--junit", junit), ("--sarif", sarif)].filter { $0.1 != nil }
    }

    /// True if a report is printed on standard output; nothing else is printed there then.
    var printsReport: Bool { outputs.contains { $0.path.map(Output.isStandardOutput) ?? false } }
}

/// Rules, and the files that a check of them needs. They are read and opened before there is a recording, so that an
/// error is reported at once.
struct PreparedCheck {
    private let options: CheckOptions
    private let findings: DiagnosisOptions
    private let annotations: AnnotationOptions
    private let rules: [Rule]
    private let accepted: AcceptedFindings
    private let junit, sarif: Output?

    /// - Parameters:
    ///   - files: files with rules.
    ///   - texts: rules that follow them.
    /// - Throws: `LogError` for a file that cannot be read, `ValidationError` for rules that cannot.
    init(
        rulesIn files: [String], _ texts: [String] = [], _ options: CheckOptions, _ findings: DiagnosisOptions,
        _ annotations: AnnotationOptions, _ terminal: Terminal
    ) throws {
        var (rules, errors): ([Rule], [RuleError]) = ([], [])
        var unread: LogError?
        for path in files {
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
        self.rules = rules + (try texts.map { try RuleParser.rule(argument: $0, option: "--rule") })
        (self.options, self.findings, self.annotations) = (options, findings, annotations)
        accepted = try findings.accepted
        junit = try options.junit.map(terminal.output)
        sarif = try options.sarif.map(terminal.output)
    }

    /// Checks the rules, writes the reports, and prints the results with `show`.
    ///
    /// - Parameter path: the file of the recording; nil for standard input.
    func perform(
        _ recording: Recording, path: String?, _ terminal: Terminal, show: (RuleReport) throws -> Void
    ) throws -> ExitStatus {
        let check = RuleCheck(
            rules, RecordingIndex(recording), limits: findings.limits, accepted: accepted,
            allowsIncomplete: options.allowIncomplete)
        let report = RuleReport(check)
        if !options.printsReport { try show(report) }
        // The lines are printed even if a report cannot be written.
        try terminal.standardOutput.flush()
        annotations.annotate(report.findings, title: "notify-demo check", totals: report.totals, terminal)
        try junit?.finish(JUnitReport.text("notify-demo check", of: [report.suite]))
        try sarif?.finish(
            SARIFReport(
                check, version: NotifyDemo.configuration.version, recordingPath: path, path: SourceFiles().path
            ).text())
        let isUnused = findings.failsForUnused(check.unusedAccepted ?? [], terminal)
        return check.holds && !isUnused ? .success : .failed
    }
}
