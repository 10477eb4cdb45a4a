import ChildProcesses
import DeliveryDiagnostics
import Scenarios
import TerminalText

/// The result of running a scenario: its records and its checked expectations.
struct ScenarioRun {
    var recorded: RecordedRun
    var expectations: [Expectation]

    /// - Parameters:
    ///   - keepsAll: true if all records are read later, and not only the log messages.
    ///   - label: precedes the progress.
    /// - Throws: an error that prevents the scenario from running at all.
    static func perform(
        _ scenario: any Scenario, options: ScenarioOptions = ScenarioOptions(), keepsAll: Bool = true,
        _ terminal: Terminal, label: String = ""
    ) throws -> ScenarioRun {
        let environment = ScenarioEnvironment(
            recorder: DeliveryRecorder(keepsAll: keepsAll || !scenario.isTallied), options: options, program: .own(),
            progress: { [line = terminal.progressLine] in line.show("\(label)\(Int($0 * 100)) % handled") })
        terminal.progressLine.showWhenDue("\(label)running")
        defer { terminal.progressLine.clear() }
        do {
            try scenario.perform(in: environment)
        } catch {
            switch error as? ScenarioError {
            case .notOnMainThread, .noProgram, .optionOutOfRange, .child: throw error
            // A timeout or another error is a failed expectation. The records up to it are still useful.
            case .timedOut, nil: break
            }
            return ScenarioRun(
                recorded: environment.recorder.run,
                expectations: [Expectation("runs to its end", failure: "\(error)")])
        }
        terminal.show(progress: "\(label)checking the records")
        let recorded = environment.recorder.run
        return ScenarioRun(recorded: recorded, expectations: scenario.expectations(of: recorded, options: options))
    }
}
