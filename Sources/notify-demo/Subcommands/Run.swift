import ArgumentParser
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
            """)

    @OptionGroup var scenario: ScenarioArguments
    @OptionGroup var output: RecordOutput

    @Option(help: ColorChoice.help)
    var color = ColorChoice.auto

    func perform(_ terminal: Terminal) throws -> ExitStatus {
        let run = try ScenarioRun.perform(
            scenario.name, options: scenario.options, needsRecords: output.needsRecords, terminal)
        try output.write(run.recorded, of: scenario.name, terminal)
        for expectation in run.expectations { terminal.say(shown: terminal.line(of: expectation, isMessage: true)) }
        return run.expectations.allSatisfy(\.holds) ? .success : .failed
    }
}
