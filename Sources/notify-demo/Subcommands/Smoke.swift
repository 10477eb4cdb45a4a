import ArgumentParser
import DeliveryDiagnostics
import Foundation
import Scenarios
import SystemPackage

struct Smoke: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run every scenario and check every expectation, one per line.",
        discussion: """
            Takes less than 10 seconds.

            EXAMPLES
              notify-demo smoke
              notify-demo smoke --junit report.xml
              notify-demo smoke --junit - | xmllint --format -
              prove --exec '' "notify-demo smoke --tap"

            EXIT STATUS
              0 all expectations hold, 1 an expectation fails, 2 the report cannot be written
            """)

    @Option(
        help: ArgumentHelp(
            """
            Also write the results to a file as JUnit XML; - is standard output, on which nothing else is printed \
            then.
            """, valueName: "file"),
        completion: .file(extensions: ["xml"]))
    var junit: String?

    @Flag(help: "Print the results in the Test Anything Protocol, version 13.")
    var tap = false

    private var printsXML: Bool { junit.map { OutputDestination.isStandardOutput($0) } ?? false }

    func validate() throws {
        if tap, let junit, printsXML {
            throw ValidationError("--tap and --junit \(junit) both write to standard output. Name a file with --junit.")
        }
    }

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        // The report file is opened before the scenarios run, so that an error is reported at once.
        let file = try printsXML ? nil : junit.map { try OutputFile($0) }
        // Lines on a terminal show the progress themselves, and would share its line.
        let showsProgress = printsXML || isatty(FileDescriptor.standardOutput.rawValue) != 1
        var results: [ScenarioResult] = []
        var tapReport = TAPReport()
        if tap { try terminal.print(TAPReport.version) }
        let begun = ContinuousClock.now
        let scenarios = ScenarioCatalog.all
        for (index, scenario) in scenarios.enumerated() {
            let progress = ProgressLine("\(scenario.name), \(index + 1) of \(scenarios.count)", since: begun)
            let result = Self.result(of: scenario, progress: showsProgress ? progress : nil)
            progress.clear()
            results.append(result)
            if tap {
                for line in tapReport.lines(for: result) { try terminal.print(line) }
            } else if !printsXML {
                for expectation in result.expectations {
                    try terminal.print(
                        ExpectationLine.text(of: expectation, in: scenario.name, palette: terminal.outputPalette))
                }
            }
            try terminal.flush()
        }
        let expectations = results.flatMap(\.expectations)
        let failed = expectations.count { !$0.holds }
        if tap {
            try terminal.print(tapReport.plan)
        } else if !printsXML {
            try terminal.print("\(expectations.count - failed) passed, \(failed) failed")
        }
        // The lines above are printed even if the report cannot be written.
        try terminal.flush()
        if printsXML { try terminal.print(JUnitReport.text(of: results)) }
        try file?.write(Array("\(JUnitReport.text(of: results))\n".utf8))
        try file?.finish()
        return failed == 0 ? .success : .failed
    }

    private static func result(of scenario: any Scenario, progress: ProgressLine?) -> ScenarioResult {
        var expectations: [Expectation] = []
        let duration = ContinuousClock().measure {
            do {
                expectations =
                    try ScenarioRun.perform(scenario, options: ScenarioOptions(), progress: progress).expectations
            } catch {
                expectations = [.failed("can be run", because: "\(error)")]
            }
        }
        return ScenarioResult(scenario: scenario.name, expectations: expectations, duration: duration)
    }
}
