import ArgumentParser
import DeliveryDiagnostics
import Scenarios
import TerminalText

struct Run: Command {
    static let configuration = CommandConfiguration(
        abstract: "Run a scenario, print its records, and check its expectations.",
        discussion: """
            Records go to standard output, results of the checks to standard error.

            EXAMPLES
              notify-demo run redirect
              notify-demo run flood --posters 8 --drop-signals 0.99 --seed 7
              notify-demo run observer-lifetime --capture weak
              notify-demo run many-observers -o run.jsonl

            EXIT STATUS
              0 all expectations hold, 1 an expectation fails, 2 the scenario cannot be run
            """)

    @OptionGroup var scenario: ScenarioArguments
    @OptionGroup var output: RecordOutput

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        guard let chosen = ScenarioCatalog.named(scenario.name) else { return .error }
        let run = try ScenarioRun.perform(
            chosen, options: scenario.options, needsRecords: output.needsRecords, terminal)
        try output.write(run.recorded, of: chosen, terminal)
        for expectation in run.expectations { terminal.say(shown: terminal.line(of: expectation, isMessage: true)) }
        return run.status
    }
}
