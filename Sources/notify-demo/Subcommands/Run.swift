import ArgumentParser
import DeliveryDiagnostics
import Scenarios

struct Run: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run a scenario, print its records, and check its expectations.",
        discussion: """
            Records go to standard output, results of the checks to standard error.

            EXAMPLES
              notify-demo run redirect
              notify-demo run background-observer --style stages
              notify-demo run flood --posters 8 --drop-signals 0.99 --seed 7
              notify-demo run observer-lifetime --capture weak
              notify-demo run many-observers --posters 8
              notify-demo run many-observers -o run.jsonl
              notify-demo run held-message --stable > held-message.golden
            """
    )

    @OptionGroup var scenario: ScenarioArguments
    @OptionGroup var output: RecordOutput

    func perform(_ terminal: inout Terminal) throws -> ExitStatus {
        guard let chosen = ScenarioCatalog.named(scenario.name) else { return .error }
        let progress = ProgressLine(chosen.name)
        defer { progress.clear() }
        let outcome = try ScenarioRun.perform(chosen, options: scenario.options, progress: progress)
        try output.write(outcome.records, progress: progress)
        try output.print(outcome.records, of: chosen, to: &terminal, progress: progress)
        try terminal.flush()
        progress.clear()
        for expectation in outcome.expectations {
            terminal.say(ExpectationLine.text(of: expectation, palette: terminal.errorPalette))
        }
        return outcome.status
    }
}
