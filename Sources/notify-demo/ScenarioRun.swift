import ChildProcesses
import DeliveryDiagnostics
import Scenarios
import TerminalText

/// The result of running a scenario: its records and its checked expectations.
struct ScenarioRun {
    var recorded: RecordedRun
    var expectations: [Expectation]

    /// - Parameter show: receives the lines of a scenario that shows itself.
    /// - Throws: an error that prevents the recording. An error of the scenario is a failed expectation.
    static func perform(
        _ scenario: any Scenario, options: ScenarioOptions = ScenarioOptions(),
        show: (@Sendable (String) -> Void)? = nil, _ terminal: Terminal
    ) throws -> ScenarioRun {
        var environment = ScenarioEnvironment(program: .own())
        environment.options = options
        environment.progress = { [line = terminal.progressLine] in line.show("\(Int($0 * 100)) % handled") }
        if let show { environment.show = show }
        terminal.progressLine.showWhenDue("running")
        defer { terminal.progressLine.clear() }
        try ScenarioRecording.start()
        let result = Result { try scenario.perform(in: environment) }
        let recorded = try ScenarioRecording.finish()
        // The records up to an error are still useful.
        if case .failure(let error) = result {
            let expectation = Expectation("runs to its end", failure: "\(error)")
            return ScenarioRun(recorded: recorded, expectations: [expectation])
        }
        return ScenarioRun(recorded: recorded, expectations: scenario.expectations(of: recorded, options: options))
    }
}
