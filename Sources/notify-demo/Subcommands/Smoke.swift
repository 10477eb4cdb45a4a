import ArgumentParser
import DeliveryDiagnostics
import Foundation
import SystemPackage

struct Smoke: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run every scenario and check every expectation, a line each.",
        discussion: """
            Takes less than 10 seconds. The benchmarks are run too, quickly: whether all that they post is handled, and not \
            how fast.

            EXAMPLES
              notify-demo smoke
              notify-demo smoke --junit report.xml
              notify-demo smoke --junit - | xmllint --format -
              prove --exec '' "notify-demo smoke --tap"

            EXIT STATUS
              0 all expectations hold, 1 one fails, 2 the report cannot be written
            """)

    @Option(
        help: ArgumentHelp(
            """
            Write the results to a file as JUnit's XML, besides what is printed; - is standard output, and nothing \
            else is printed there.
            """, valueName: "file"),
        completion: .file(extensions: ["xml"]))
    var junit: String?

    @Flag(help: "Print the results in the Test Anything Protocol, version 13.")
    var tap = false

    private var printsXML: Bool { junit.map { OutputDestination.isStandardOutput($0) } ?? false }

    func validate() throws {
        if tap, let junit, printsXML {
            throw ValidationError("--tap and --junit \(junit) both print on standard output. Give --junit a file.")
        }
    }

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        // Before the scenarios run: who cannot have the report should not have to wait for it.
        let file = try printsXML ? nil : junit.map { try OutputFile($0) }
        // Lines that are printed on a terminal are progress enough, and share its lines.
        let showsProgress = printsXML || isatty(FileDescriptor.standardOutput.rawValue) != 1
        var results: [ScenarioResult] = []
        var tapReport = TAPReport()
        if tap { try terminal.print(TAPReport.version) }
        let begun = ContinuousClock.now
        let parts =
            Scenarios.all.map { scenario in (scenario.name, { Self.result(of: scenario, progress: $0) }) }
            + [(Bench.name, { Self.resultOfBenchmarks(progress: $0) })]
        for (index, (name, result)) in parts.enumerated() {
            let progress = ProgressLine("\(name), \(index + 1) of \(parts.count)", since: begun)
            let result = result(showsProgress ? progress : nil)
            progress.clear()
            results.append(result)
            if tap {
                for line in tapReport.lines(for: result) { try terminal.print(line) }
            } else if !printsXML {
                for expectation in result.expectations {
                    try terminal.print(
                        ExpectationLine.text(of: expectation, in: name, palette: terminal.outputPalette))
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
        // What was printed stands, also where the file takes no more.
        try terminal.flush()
        if printsXML { try terminal.print(JUnitReport.text(of: results)) }
        try file?.write(Array("\(JUnitReport.text(of: results))\n".utf8))
        try file?.finish()
        return failed == 0 ? .good : .failed
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

    private static func resultOfBenchmarks(progress: ProgressLine?) -> ScenarioResult {
        var expectations: [Expectation] = []
        let duration = ContinuousClock().measure {
            do {
                let places = BenchmarkPlaces(observersProgram: ObserversChild.program)
                expectations = try BenchmarkReport.measuring(
                    Workloads.all, in: BenchmarkRun(places: places, isQuick: true)
                ) {
                    progress?.show($0)
                }.expectations
            } catch {
                expectations = [.failed("can be run", because: "\(error)")]
            }
        }
        return ScenarioResult(scenario: Bench.name, expectations: expectations, duration: duration)
    }
}
