import ArgumentParser
import DeliveryDiagnostics
import Scenarios
import TerminalText

struct Smoke: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run scenarios and check every expectation, one per line.",
        discussion: """
            Runs every scenario, in less than 10 seconds, or those that are named.

            EXAMPLES
              notify-demo smoke redirect flood
              notify-demo smoke --junit report.xml
            """)

    @Argument(
        help: "The scenarios to run (default: all).", completion: ScenarioCatalog.completion,
        transform: ScenarioCatalog.scenario)
    var scenarios: [any Scenario] = []

    @Option(
        help: ArgumentHelp(
            "Also write the results as JUnit XML; - is standard output, on which nothing else is printed then.",
            valueName: "file"), completion: .file(extensions: ["xml"]))
    var junit: String?

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    @OptionGroup var annotations: AnnotationOptions

    var annotatesErrors: Bool { annotations.areWanted }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        // The report file is checked before the scenarios run, so that an error is reported at once.
        let report = try junit.map(terminal.output)
        let printsLines = report?.isStandardOutput != true
        let chosen = scenarios.isEmpty ? ScenarioCatalog.all : scenarios
        var suites: [ReportedSuite] = []
        for (index, scenario) in chosen.enumerated() {
            let label = "\(scenario.name), \(index + 1) of \(chosen.count): "
            var results: [Expectation] = []
            let duration = SuspendingClock().measure {
                do {
                    results = try ScenarioRun.perform(scenario, terminal, label: label).expectations
                } catch {
                    results = [Expectation("can be run", failure: "\(error)")]
                }
            }
            let cases = results.map { ReportedSuite.Case("\(scenario.name): \($0.claim)", failure: $0.failure) }
            suites.append(ReportedSuite(name: scenario.name, cases: cases, duration: duration))
            if printsLines {
                try terminal.print(shown: results.map { terminal.palette.line(of: $0, in: scenario.name) })
            }
            try terminal.standardOutput.flush()
        }
        let cases = suites.flatMap(\.cases)
        let failures = cases.compactMap { claim in
            claim.failure.map { ReportedFinding(title: claim.claim, text: $0) }
        }
        let totals = "\(cases.count - failures.count) passed, \(failures.count) failed"
        if printsLines { try terminal.print(totals) }
        // The lines are printed even if the report cannot be written.
        try terminal.standardOutput.flush()
        annotations.annotate(failures, title: "notify-demo smoke", totals: totals, terminal)
        try report?.finish(JUnitReport.text("notify-demo smoke", of: suites))
        return failures.isEmpty ? .success : .failed
    }
}
