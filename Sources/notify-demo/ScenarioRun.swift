import ChildProcesses
import DeliveryDiagnostics
import DeliveryRecording
import Scenarios

/// The result of running a scenario: its records and its checked expectations.
struct ScenarioRun {
    var records: [DeliveryRecord]
    var expectations: [Expectation]

    var status: ExitStatus { expectations.allSatisfy(\.holds) ? .success : .failed }

    /// - Parameter label: precedes the progress.
    /// - Throws: an error that prevents the scenario from running at all.
    static func perform(
        _ scenario: any Scenario, options: ScenarioOptions = ScenarioOptions(), _ terminal: Terminal, label: String = ""
    ) throws -> ScenarioRun {
        let environment = ScenarioEnvironment(
            options: options, program: .own(),
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
                records: environment.recorder.records,
                expectations: [Expectation("runs to its end", failure: "\(error)")])
        }
        terminal.show(progress: "\(label)checking the records")
        let records = environment.recorder.records
        return ScenarioRun(records: records, expectations: scenario.expectations(of: records, options: options))
    }
}
