import ArgumentParser
import DeliveryDiagnostics
import DeliveryRecording

struct Check: Command {
    static let configuration = CommandConfiguration(
        abstract: "Check rules about a recording, for continuous integration.",
        discussion: """
            A line tells for each rule whether it holds. A rule that fails has evidence: records of the file, and the \
            source locations of the post and of the registration if they are known.

            RULES
              NAME on PLACE, NAME not on PLACE
                  handlers of NAME run there, or elsewhere
              NAME observed, every post observed
                  no post of NAME, or of any name, is without an observer
              NAME before NAME, NAME before NAME on PLACE
                  handlers of the second come after one of the first on their thread
              no handler longer than 16 ms, no handler on PLACE longer than 16 ms
                  from the call to the return
              no post longer than 5 ms
                  no post blocks its thread for longer
              no observer left at exit
                  each observer that was added is removed
              at most 100 NAME per second
                  posts of each process, in any second
              no finding, no problem, no wrongThread
                  'diagnose' finds nothing, notes only, or nothing of this kind

            PLACE is main, or thread and the name or the number of a thread. A name with spaces is written in double \
            quotes, with JSON's escapes. So is a notification that is called no, every or at. The kinds of findings \
            are in 'diagnose --json'. A file of rules has one on each line; text after # is a comment.

            A rule fails if its name or thread is not in the recording, or if no handler of the name ran, because it \
            could not fail otherwise. Rules that begin with no or at most hold then. If a recording is truncated, the \
            rules are checked on the records that it has, and no observer left at exit fails.

            The call of an async handler is recorded when it has returned, with the thread of its return. Its time is \
            not recorded, and no handler longer than fails if the recording has no other times.

            A post of the library lasts at least until the last handler that ran inside it has returned, or until its \
            wait has ended. A handler that has not returned lasts until its thread or the recording ends.

            EXAMPLES
              notify-demo check --rule 'WindowWillClose on main'
              notify-demo check run.jsonl --rules rules.txt --rule 'no finding'
              notify-demo check --rules rules.txt --junit report.xml --sarif report.sarif
              notify-demo record --check rules.txt -- ./my-program

            EXIT STATUS
              0 all rules hold, 1 a rule fails, 2 the recording cannot be read, 64 a rule cannot be read
            """)

    @OptionGroup var file: RecordingFile

    @OptionGroup var rules: RuleOptions

    @Flag(help: "Print one JSON document.")
    var json = false

    @Flag(help: "Print the results in the Test Anything Protocol, version 13.")
    var tap = false

    @Option(
        help: ArgumentHelp(
            "Also write the results as JUnit XML; - is standard output, on which nothing else is printed then.",
            valueName: "file"), completion: .file(extensions: ["xml"]))
    var junit: String?

    @Option(
        help: ArgumentHelp(
            "Also write the failures as SARIF 2.1.0, for code scanning; - is standard output, on which nothing else is "
                + "printed then.",
            valueName: "file"), completion: .file(extensions: ["sarif", "json"]))
    var sarif: String?

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    @OptionGroup(title: "Findings") var options: DiagnosisOptions

    /// The options that print on standard output; nothing else is printed there then.
    private var printingOptions: [String] {
        [
            json ? "--json" : nil, tap ? "--tap" : nil, Self.printingOption("--junit", junit),
            Self.printingOption("--sarif", sarif),
        ].compactMap(\.self)
    }

    private static func printingOption(_ option: String, _ path: String?) -> String? {
        path.flatMap { Output.isStandardOutput($0) ? "\(option) \($0)" : nil }
    }

    func validate() throws {
        if printingOptions.count > 1 {
            throw ValidationError(
                "\(printingOptions[0]) and \(printingOptions[1]) both write to standard output. Use one of them, or "
                    + "name a file with --junit or --sarif.")
        }
        if file.path == "-", rules.rules.contains("-") {
            throw ValidationError("standard input can be read only once. Name a file for the recording or the rules.")
        }
        for (option, output) in [("--junit", junit), ("--sarif", sarif)] {
            guard let output else { continue }
            for input in [file.path] + rules.rules + [options.accept].compactMap(\.self)
            where Output.wouldOverwrite(input, byWriting: output) {
                throw ValidationError("\(option) would overwrite \(input). Name another file.")
            }
        }
        if let junit, let sarif, Output.isSameFile(junit, sarif) {
            throw ValidationError("--junit and --sarif name the same file.")
        }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        // The files are checked before the recording is read, so that an error is reported at once.
        let junit = try junit.map { try terminal.output(to: $0) }
        let sarif = try sarif.map { try terminal.output(to: $0) }
        let rules = try rules.read()
        let accepted = try options.accepted
        let recording = try file.read(terminal)
        let check = RuleCheck(rules, RecordingIndex(recording), limits: options.limits, accepted: accepted)
        if let incompleteness = check.incompleteness { terminal.report(incompleteness) }
        let report = RuleReport(check)
        if json {
            try terminal.print(report.json())
        } else if tap {
            var tap = TAPReport()
            try terminal.print([TAPReport.version] + tap.lines(for: report.suite) + [tap.plan])
        } else if printingOptions.isEmpty {
            try terminal.print(terminal.lines(of: report))
        }
        // The lines are printed even if a report cannot be written.
        try terminal.standardOutput.flush()
        try junit?.print(JUnitReport.text("notify-demo check", of: [report.suite]))
        try junit?.finish()
        if let sarif {
            let report = SARIFReport(
                check, version: NotifyDemo.configuration.version,
                recordingPath: file.path == "-" ? nil : file.path, path: SourceFiles().path)
            try sarif.print(report.text())
            try sarif.finish()
        }
        return check.holds ? .success : .failed
    }
}
