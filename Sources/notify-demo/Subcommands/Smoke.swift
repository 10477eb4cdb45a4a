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
              notify-demo smoke
              notify-demo smoke redirect flood
              notify-demo smoke --junit report.xml

            EXIT STATUS
              0 all expectations hold, 1 an expectation fails, 2 the report cannot be written
            """)

    @Argument(help: "The scenarios to run (default: all).", completion: .list(ScenarioCatalog.all.map(\.name)))
    var scenarios: [String] = []

    @Option(
        help: ArgumentHelp(
            "Also write the results as JUnit XML; - is standard output, on which nothing else is printed then.",
            valueName: "file"), completion: .file(extensions: ["xml"]))
    var junit: String?

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    @OptionGroup var annotations: AnnotationOptions

    private var printsXML: Bool { junit.map(Output.isStandardOutput) ?? false }

    func validate() throws {
        for name in scenarios { try ScenarioArguments.check(name: name) }
    }

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        // The report file is checked before the scenarios run, so that an error is reported at once.
        let report = try junit.map { try terminal.output(to: $0) }
        let chosen = scenarios.isEmpty ? ScenarioCatalog.all : scenarios.compactMap(ScenarioCatalog.named)
        var suites: [ReportedSuite] = []
        var expectations: [Expectation] = []
        var findings: [ReportedFinding] = []
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
            expectations += results
            suites.append(
                ReportedSuite(
                    name: scenario.name,
                    cases: results.map {
                        ReportedSuite.Case("\(scenario.name): \($0.claim)", failure: $0.failure)
                    }, duration: duration))
            findings += results.compactMap { result in
                result.failure.map { ReportedFinding(title: "\(scenario.name): \(result.claim)", text: $0) }
            }
            if !printsXML {
                try terminal.print(shown: results.map { terminal.line(of: $0, in: scenario.name) })
            }
            try terminal.standardOutput.flush()
        }
        let failed = expectations.count { !$0.holds }
        let totals = "\(expectations.count - failed) passed, \(failed) failed"
        if !printsXML { try terminal.print(totals) }
        // The lines are printed even if the report cannot be written.
        try terminal.standardOutput.flush()
        annotations.annotate(findings, title: "notify-demo smoke", totals: totals, terminal)
        try report?.print(JUnitReport.text("notify-demo smoke", of: suites))
        try report?.finish()
        return failed == 0 ? .success : .failed
    }
}
