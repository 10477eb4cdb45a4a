import ArgumentParser
import DeliveryDiagnostics
import Scenarios
import TerminalText

struct Smoke: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run scenarios and check every expectation, one per line.",
        discussion: """
            Runs every scenario, in less than 10 seconds, or those that are named. Where nats-server and \
            notification-bridge are, the machines take some 20 seconds more.

            EXAMPLES
              notify-demo smoke redirect flood
            """)

    @Argument(
        help: "The scenarios to run (default: all).", completion: ScenarioCatalog.completion,
        transform: ScenarioCatalog.scenario)
    var scenarios: [any Scenario] = []

    @OptionGroup var annotations: AnnotationOptions

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let chosen = scenarios.isEmpty ? ScenarioCatalog.all : scenarios
        var (count, failures): (Int, [Finding]) = (0, [])
        for scenario in chosen {
            let results = try ScenarioRun.perform(scenario, terminal).expectations
            try terminal.print(shown: results.map { terminal.palette.line(of: $0, in: scenario.name) })
            try terminal.standardOutput.flush()
            count += results.count
            failures += results.compactMap { result in
                result.failure.map { Finding(claim: "\(scenario.name): \(result.claim)", failure: $0) }
            }
        }
        let totals = "\(count - failures.count) passed, \(failures.count) failed"
        try terminal.print(totals)
        annotations.annotate(failures, title: "notify-demo smoke", totals: totals, terminal)
        return failures.isEmpty ? .success : .failed
    }
}
